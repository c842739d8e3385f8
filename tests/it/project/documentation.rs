//! The pages of the repository: README is short, every page is found, and links lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rollcall::graphql::SDL;

use crate::harness::checks;
use crate::harness::documents::{links, page, prose, root, target, targets};
use crate::harness::program::Place;

/// README is for ten minutes.
const LONGEST_README: usize = 15_360;

/// Folders whose pages are checked, besides the pages in the root.
const FOLDERS: &[&str] = &["docs", "ops", "benches"];

/// The paths of all pages.
fn pages() -> Vec<String> {
    let is_page = |path: &Path| path.extension().is_some_and(|extension| extension == "md");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
    };
    let mut pages = entries(root());
    pages.retain(|path| is_page(path));
    let mut next: Vec<PathBuf> = FOLDERS.iter().map(|folder| root().join(folder)).collect();
    while let Some(path) = next.pop() {
        if path.is_dir() && !path.ends_with("node_modules") {
            next.extend(entries(&path));
        } else if is_page(&path) {
            pages.push(path);
        }
    }
    pages.sort();
    pages.iter().map(|path| path.strip_prefix(root()).expect("below the root").display().to_string()).collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    headings
        .map(|line| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            heading.chars().filter(kept).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
        })
        .collect()
}

#[test]
fn readme_can_be_read_in_ten_minutes_and_names_both_commands() {
    let readme = page("README.md");
    assert!(readme.len() <= LONGEST_README, "README.md has {} bytes; move what is not for everybody", readme.len());
    for command in ["\ncargo run ", "\ncargo test "] {
        assert!(readme.contains(command), "{command}");
    }
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let mut problems = Vec::new();
    let mut count = 0;
    for path in pages() {
        for link in links(&page(&path)) {
            // What has a scheme is somebody else's.
            if link.split('/').next().is_some_and(|start| start.contains(':')) {
                continue;
            }
            count += 1;
            let (file, anchor) = link.split_once('#').map_or((&*link, None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() { path.clone() } else { target(&path, file) };
            if !root().join(&target).exists() {
                problems.push(format!("{path}: {link}: there is no {target}"));
            } else if let Some(anchor) = anchor.filter(|_| target.ends_with(".md"))
                && !anchors(&page(&target)).iter().any(|heading| heading == anchor)
            {
                problems.push(format!("{path}: {link}: {target} has no such heading"));
            }
        }
    }
    assert!(count > 100, "the rule looks at nothing: {count}");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_page_is_reached_from_its_folders_index() {
    for index in ["docs/README.md", "ops/README.md"] {
        let folder = index.trim_end_matches("README.md");
        let linked: BTreeSet<String> = targets(index, &page(index)).into_iter().collect();
        let missing: Vec<String> = pages()
            .into_iter()
            .filter(|path| path.starts_with(folder) && path != index && !linked.contains(path))
            .collect();
        assert!(missing.is_empty(), "{index} does not lead to {missing:?}");
    }
    let readme: BTreeSet<String> = targets("README.md", &page("README.md")).into_iter().collect();
    for index in ["docs/README.md", "ops/README.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        assert!(readme.contains(index), "README.md does not lead to {index}");
    }
    assert!(targets("CONTRIBUTING.md", &page("CONTRIBUTING.md")).contains(&"benches/README.md".to_owned()));
}

#[test]
fn every_command_and_every_setting_of_the_server_has_its_line() {
    let help = Place::new().run(&["--help"]).out;
    let (commands, _) = help.split_once("\nOptions:").expect("options");
    let settings = Place::new().run(&["serve", "--help"]).out;
    let (_, options) = settings.split_once("\nOptions:").expect("options");
    let commands = commands.split_once("\nCommands:\n").expect("commands").1;
    let listed = page("docs/commands.md");
    for line in commands.lines() {
        // A continued description is indented further.
        let Some(command) = line.strip_prefix("  ").filter(|line| !line.starts_with(' ')) else { continue };
        let command = command.split(' ').next().expect("a name");
        assert!(
            command == "help" || listed.contains(&format!("`rollcall {command}")),
            "docs/commands.md lacks {command}"
        );
    }
    let pages = ["docs/settings.md", "docs/limits.md", "ops/openid-connect.md", "ops/tracing.md"].map(page).concat();
    // A description, which may begin with a flag, is indented further.
    let flags = options.lines().filter_map(|line| line.strip_prefix("      --"));
    let flags: Vec<&str> = flags.filter_map(|line| line.split([' ', ',']).next()).collect();
    assert!(flags.len() > 30, "the rule looks at nothing: {flags:?}");
    for flag in flags {
        assert!(pages.contains(&format!("`--{flag}")), "no page has a line for --{flag}");
    }
}

#[test]
fn every_kind_of_check_and_of_event_has_its_line() {
    let (standards, events) = (page("docs/standards.md"), page("docs/events.md"));
    let mutations = SDL.lines().filter_map(|line| line.strip_prefix("  check")?.strip_suffix("Create("));
    let kinds: BTreeSet<&str> = mutations.collect();
    assert_eq!(kinds, checks::KINDS.iter().map(|(kind, ..)| *kind).collect(), "the harness lists the kinds of checks");
    for kind in &kinds {
        assert!(standards.contains(&format!("\n| `check{kind}` |")), "docs/standards.md has no line for check{kind}");
    }
    let values = SDL
        .split_once("\nenum EventKindEnum {\n")
        .expect("the kinds of events")
        .1
        .split_once("\n}")
        .expect("its end")
        .0;
    let kinds: Vec<&str> = values.lines().map(str::trim).filter(|line| !line.contains(['"', ' '])).collect();
    assert!(kinds.contains(&"service_created"), "{kinds:?}");
    for kind in &kinds {
        assert!(events.contains(&format!("`{kind}`")), "docs/events.md does not say when {kind} happens");
    }
    let size = format!("  events: [EventKindEnum!]! @listSize(assumedSize: {})\n", kinds.len());
    assert!(SDL.contains(&size), "the SDL counts the kinds of events: {size}");
}
