//! The examples in the help of commands.

use rollcall::config;

/// The words of a command line as a shell reads it: up to a comment, a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_quoted) = (Vec::new(), String::new(), None, false);
    let letters: Vec<char> = line.chars().collect();
    for (place, letter) in letters.iter().enumerate() {
        match (quote, *letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), letter) => word.push(letter),
            (None, '"' | '\'') => (quote, is_quoted) = (Some(*letter), true),
            (None, '|' | '>' | '<' | ')') => break,
            // Two blanks are before a comment.
            (None, ' ') if letters.get(place + 1) == Some(&' ') => break,
            (None, ' ') => {
                if !word.is_empty() || is_quoted {
                    words.push(std::mem::take(&mut word));
                }
                is_quoted = false;
            }
            (None, letter) => word.push(letter),
        }
    }
    if !word.is_empty() || is_quoted {
        words.push(word);
    }
    words
}

/// The commands below a command that people run, each with its name.
fn below(command: &clap::Command, name: &str) -> Vec<(String, clap::Command)> {
    let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    inner
        .flat_map(|inner| {
            let name = format!("{name} {}", inner.get_name());
            let all = below(inner, &name);
            [(name, inner.clone())].into_iter().chain(all)
        })
        .collect()
}

#[test]
fn the_help_of_each_command_has_examples_that_it_takes() {
    let commands = below(&config::program(), "rollcall");
    assert!(commands.len() > 45, "{}", commands.len());
    let mut taken = 0;
    for (name, command) in commands {
        let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(examples.starts_with("Example") && examples.contains(&name), "{name}: {examples}");
        for line in examples.lines().skip(1) {
            assert!(line.starts_with("  ") && line.chars().count() <= 100, "{name}: {line}");
            // Some use what the command prints, or give it what another prints.
            let own = line.find("rollcall ").map(|place| words(&line[place..])).unwrap_or_default();
            assert!(own.len() > 1, "{name}: {line}");
            if !line.contains("claude mcp add") {
                let read = config::parse(&own);
                assert!(read.is_ok(), "{name}: {own:?}: {}", read.err().map(|why| why.to_string()).unwrap_or_default());
                taken += 1;
            }
        }
    }
    assert!(taken > 70, "{taken}");
}

#[test]
fn a_line_is_taken_apart_as_a_shell_does() {
    for (line, expected) in [
        ("rollcall show cart      whatever is called cart", &["rollcall", "show", "cart"][..]),
        ("rollcall list services --filter '!owner'  x", &["rollcall", "list", "services", "--filter", "!owner"]),
        ("rollcall query '{ a { b } }'", &["rollcall", "query", "{ a { b } }"]),
        ("rollcall export | gzip > file", &["rollcall", "export"]),
        ("rollcall open cart)\"", &["rollcall", "open", "cart"]),
        ("rollcall backup \"rollcall-$(date +%F).db\"    while", &["rollcall", "backup", "rollcall-$(date +%F).db"]),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}
