//! Reads lock files, as far as the names and versions of packages go. What a file says that is not understood is left out.

use serde_json::Value as Json;

/// The name and the version of a package. The version is empty if the file does not say it.
pub(super) type Package = (String, String);

fn package(name: &str, version: &str) -> Package {
    (name.to_owned(), version.to_owned())
}

/// The text between quotation marks after the name of a key: `name = "serde"`.
fn value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(key)?.trim_start().strip_prefix('=')?.trim();
    rest.strip_prefix('"')?.split('"').next()
}

/// `Cargo.lock`, `poetry.lock`, `uv.lock`: TOML with a table `[[package]]` for each.
pub(super) fn tables(text: &str) -> Vec<Package> {
    let mut packages = Vec::new();
    let mut name: Option<&str> = None;
    let mut is_package = false;
    for line in text.lines() {
        if line.starts_with('[') {
            packages.extend(name.take().map(|name| package(name, "")));
            is_package = line.trim() == "[[package]]";
        } else if is_package && let Some(found) = value(line, "name") {
            name = Some(found);
        } else if is_package && let Some(version) = value(line, "version") {
            packages.extend(name.take().map(|name| package(name, version)));
        }
    }
    packages.extend(name.map(|name| package(name, "")));
    packages
}

/// `package-lock.json` of npm, in all three versions of its form.
pub(super) fn npm(text: &str) -> Vec<Package> {
    let Ok(lock) = serde_json::from_str::<Json>(text) else { return Vec::new() };
    let version = |entry: &Json| entry["version"].as_str().unwrap_or_default().to_owned();
    let mut packages = Vec::new();
    for (place, entry) in lock["packages"].as_object().into_iter().flatten() {
        // The package itself has the empty place, and those of its workspaces their folder.
        if let Some((_, name)) = place.rsplit_once("node_modules/") {
            let name = entry["name"].as_str().unwrap_or(name);
            packages.push((name.to_owned(), version(entry)));
        }
    }
    if packages.is_empty() {
        let mut next: Vec<&Json> = vec![&lock["dependencies"]];
        while let Some(list) = next.pop() {
            for (name, entry) in list.as_object().into_iter().flatten() {
                packages.push((name.clone(), version(entry)));
                next.push(&entry["dependencies"]);
            }
        }
    }
    packages
}

/// `pnpm-lock.yaml`: the keys of `packages`, such as `/@scope/name@1.2.3(peer@1.0.0):` or `/name/1.2.3:`.
pub(super) fn pnpm(text: &str) -> Vec<Package> {
    let section = text.lines().skip_while(|line| !line.starts_with("packages:")).skip(1);
    let section = section.take_while(|line| line.is_empty() || line.starts_with(' '));
    let keys = section.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let found = keys.filter_map(|line| {
        let key = line.trim_end().strip_suffix(':').or_else(|| line.split_once(": ").map(|(key, _)| key))?;
        let key = key.trim_matches(['\'', '"']).trim_start_matches('/');
        let key = key.split('(').next().unwrap_or_default();
        let (name, version) = key
            .get(1..)?
            .rfind('@')
            .map(|at| key.split_at(at + 1))
            .or_else(|| key.rfind('/').map(|at| key.split_at(at)))?;
        Some(package(name, version[1..].split('_').next().unwrap_or_default()))
    });
    found.collect()
}

/// `yarn.lock` of both Yarns: `"name@range", "name@range":` and then `version "1.2.3"` or `version: 1.2.3`.
pub(super) fn yarn(text: &str) -> Vec<Package> {
    let mut packages = Vec::new();
    let mut name: Option<&str> = None;
    for line in text.lines() {
        if !line.starts_with([' ', '#']) {
            let first = line.trim_end_matches(':').trim_start_matches('"').split(['"', ',']).next().unwrap_or_default();
            name = first.get(1..).and_then(|rest| rest.find('@')).map(|at| &first[..at + 1]);
        } else if let Some(version) = line.strip_prefix("  version") {
            let version = version.trim_start_matches(':').trim().trim_matches('"');
            packages.extend(name.take().map(|name| package(name, version)));
        }
    }
    packages
}

/// `go.mod`: what it requires, also of what it needs indirectly.
pub(super) fn go(text: &str) -> Vec<Package> {
    let mut packages = Vec::new();
    let mut is_required = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let entry = match line {
            "require (" => {
                is_required = true;
                continue;
            }
            ")" => {
                is_required = false;
                continue;
            }
            line if is_required => line,
            line => match line.strip_prefix("require ") {
                Some(entry) => entry,
                None => continue,
            },
        };
        let mut words = entry.split_whitespace();
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            packages.push(package(name.trim_matches('"'), version));
        }
    }
    packages
}

/// `requirements.txt`: `name[extra]==1.2.3 ; marker`. A range is no version.
pub(super) fn requirements(text: &str) -> Vec<Package> {
    let found = text.lines().filter_map(|line| {
        let line = line.split(['#', ';']).next()?.trim().trim_end_matches('\\').trim();
        if !line.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            return None;
        }
        let end = line.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_.".contains(letter)));
        let (name, rest) = line.split_at(end.unwrap_or(line.len()));
        let rest = rest.trim_start();
        let rest = if rest.starts_with('[') { rest.split_once(']')?.1.trim_start() } else { rest };
        let exact = rest.strip_prefix("===").or_else(|| rest.strip_prefix("==")).filter(|rest| !rest.contains(','));
        let version = exact.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
        Some(package(name, version))
    });
    found.collect()
}

/// `Gemfile.lock`: the lines `    name (1.2.3)` of its sections `specs:`.
pub(super) fn gems(text: &str) -> Vec<Package> {
    let found = text.lines().filter_map(|line| {
        let line = line.strip_prefix("    ").filter(|line| !line.starts_with(' '))?;
        let (name, version) = line.split_once(" (")?;
        // Of what is built for a platform: `1.2.3-x86_64-linux`.
        let version = version.trim_end().strip_suffix(')')?.split('-').next()?;
        Some(package(name, version))
    });
    found.collect()
}

/// The text of the first element with this name.
fn element<'x>(xml: &'x str, name: &str) -> Option<&'x str> {
    let inside = xml.split_once(&format!("<{name}>"))?.1;
    Some(inside.split_once(&format!("</{name}>"))?.0.trim())
}

/// `pom.xml`: its dependencies, as `group:name`. A version that is a property of the file is looked up.
pub(super) fn maven(text: &str) -> Vec<Package> {
    let properties = element(text, "properties").unwrap_or_default();
    let blocks = text.split("<dependency>").skip(1).filter_map(|rest| rest.split_once("</dependency>"));
    let found = blocks.filter_map(|(block, _)| {
        let name = format!("{}:{}", element(block, "groupId")?, element(block, "artifactId")?);
        let version = element(block, "version").unwrap_or_default();
        let property = version.strip_prefix("${").and_then(|name| name.strip_suffix('}'));
        let version = property.map_or(version, |name| element(properties, name).unwrap_or_default());
        Some(package(&name, version))
    });
    found.collect()
}

/// `gradle.lockfile`: `group:name:1.2.3=configurations`.
pub(super) fn gradle(text: &str) -> Vec<Package> {
    let found = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (name, version) = line.split_once('=')?.0.rsplit_once(':')?;
        name.contains(':').then(|| package(name, version))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_files_name_packages_and_versions() {
        type Read = fn(&str) -> Vec<Package>;
        for (read, text, expected) in [
            (
                tables as Read,
                "version = 4\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.2\"\ndependencies = [\n \"x\",\n]\n\n[[package]]\nname = \"own\"\n\n[metadata]\nname = \"no\"\n",
                "serde 1.0.2, own ",
            ),
            (
                npm,
                r#"{ "packages": { "": { "name": "own" }, "node_modules/a": { "version": "1.0.0" }, "node_modules/a/node_modules/@s/b": { "version": "2.0.0" } } }"#,
                "a 1.0.0, @s/b 2.0.0",
            ),
            (
                npm,
                r#"{ "dependencies": { "a": { "version": "1", "dependencies": { "b": { "version": "2" } } } } }"#,
                "a 1, b 2",
            ),
            (npm, "{", ""),
            (
                pnpm,
                "lockfileVersion: '9.0'\n\npackages:\n\n  '@s/a@1.2.3':\n    resolution: {}\n\n  b@2.0.0(c@1.0.0):\n    resolution: {}\n\n  /d/3.0.0_x:\n    dev: true\n\nsnapshots:\n\n  e@1.0.0: {}\n",
                "@s/a 1.2.3, b 2.0.0, d 3.0.0",
            ),
            (pnpm, "packages:\n\n  @:\n  '':\n  é:\n", ""),
            (
                yarn,
                "# yarn\n\"@s/a@^1.0.0\", \"@s/a@^1.1.0\":\n  version \"1.2.3\"\n\nb@1:\n  version \"1.0.0\"\n",
                "@s/a 1.2.3, b 1.0.0",
            ),
            (yarn, "\"a@npm:^1.0.0\":\n  version: 1.2.3\n", "a 1.2.3"),
            (
                go,
                "module m\n\nrequire github.com/a/b v1.2.3\n\nrequire (\n\tgithub.com/c/d v0.1.0 // indirect\n)\nreplace x => y\n",
                "github.com/a/b v1.2.3, github.com/c/d v0.1.0",
            ),
            (
                requirements,
                "# all\nDjango[bcrypt]==4.2.1 ; python_version > '3'\nflask>=2\n-r other.txt\nrequests == 2.31.0 --hash=x\n",
                "Django 4.2.1, flask , requests 2.31.0",
            ),
            (
                gems,
                "GEM\n  remote: https://rubygems.org/\n  specs:\n    rails (7.1.3.2)\n      actionpack (= 7.1.3.2)\n    nokogiri (1.16.0-x86_64-linux)\n",
                "rails 7.1.3.2, nokogiri 1.16.0",
            ),
            (
                maven,
                "<project><properties><v>2.0</v></properties><dependency><groupId>g</groupId><artifactId>a</artifactId><version>${v}</version></dependency><dependency><groupId>g</groupId><artifactId>b</artifactId></dependency></project>",
                "g:a 2.0, g:b ",
            ),
            (gradle, "# c\norg.x:y:1.2.3=compileClasspath\nempty=\n", "org.x:y 1.2.3"),
        ] {
            let found: Vec<String> = read(text).iter().map(|(name, version)| format!("{name} {version}")).collect();
            assert_eq!(found.join(", "), expected, "{text}");
        }
    }
}
