//! The known vulnerabilities (CVE) that a code issue is about.

super::code_issue::references!("code_issue_cve", "cves");
