//! The prompts that a person may choose.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::arguments::near;
use crate::error::quoted;

/// A prompt with one argument, which its text names as `{}`.
struct Asked {
    name: &'static str,
    description: &'static str,
    argument: (&'static str, &'static str),
    text: &'static str,
}

const PROMPTS: [Asked; 2] = [
    Asked {
        name: "incident",
        description: "What to know first when a service is failing",
        argument: ("service", "The name or alias of the service that fails"),
        text: "The service {} is failing. From the catalogue, and with links, tell me in this order: who is on call for \
             it and how to reach them and the owning team; what was deployed to it and to what it depends on in the last \
             24 hours, newest first, failures marked; which services depend on it and would fail too, the most critical \
             tier first; its runbooks and dashboards; its open critical code issues. Use describe_service, \
             list_deploys and impact. Say what the catalogue does not know.",
    },
    Asked {
        name: "onboarding",
        description: "What somebody new to a team should know",
        argument: ("team", "The name or alias of the team"),
        text: "I am new to the team {}. From the catalogue, and with links, tell me what the team is responsible for, who \
             its members and its manager are and how to reach them, which services it owns (the most critical tier \
             first, with language and repository), what was deployed in the last week, and which of its services do \
             not meet the standards and what is missing. Use describe_team, list_deploys and what_is_missing.",
    },
];

pub(super) fn list() -> Vec<Prompt> {
    let argument = |(name, description): (&'static str, &'static str)| {
        PromptArgument::new(name).with_description(description).with_required(true)
    };
    PROMPTS.iter().map(|one| Prompt::new(one.name, Some(one.description), Some(vec![argument(one.argument)]))).collect()
}

/// A prompt with its argument filled in.
///
/// # Errors
/// There is no such prompt, or its argument is missing.
pub(super) fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, String> {
    let asked = PROMPTS.iter().find(|one| one.name == name).ok_or_else(|| {
        let names = PROMPTS.map(|one| one.name);
        let near = near(name, names.into_iter());
        format!("there is no prompt {}{near}; the prompts are {}", quoted(name), names.join(", "))
    })?;
    let (argument, _) = asked.argument;
    if let Some(other) = arguments.keys().find(|name| *name != argument) {
        return Err(format!("the prompt {name} has no argument {}; it takes {argument}", quoted(other)));
    }
    let value = arguments.get(argument).and_then(|value| value.as_str()).unwrap_or_default().trim();
    if value.is_empty() || value.len() > 255 {
        return Err(format!("the prompt {name} needs the argument {argument}, of 1 to 255 bytes"));
    }
    let message = PromptMessage::new_text(Role::User, asked.text.replace("{}", value));
    Ok(GetPromptResult::new(vec![message]).with_description(asked.description))
}
