//! What to put into a pipeline so that it posts its deploys, ready to be copied.

/// One of them.
pub struct Snippet {
    /// For what it is.
    pub title: &'static str,
    /// What to know before using it.
    pub hint: &'static str,
    /// The text.
    pub text: String,
}

/// The snippets for the endpoint at `url`.
pub fn all(url: &str) -> Vec<Snippet> {
    let secret =
        "Keep the address in a secret called ROLLCALL_URL; the alias of the service goes in place of shopping_cart.";
    vec![
        Snippet {
            title: "curl",
            hint: "Runs in any shell. The alias of the service goes in place of shopping_cart.",
            text: CURL.replace("URL", &format!("'{url}'")),
        },
        Snippet { title: "GitHub Actions", hint: secret, text: GITHUB.to_owned() },
        Snippet { title: "GitLab CI", hint: secret, text: GITLAB.to_owned() },
        Snippet { title: "Jenkins", hint: secret, text: JENKINS.to_owned() },
        Snippet { title: "CircleCI", hint: secret, text: CIRCLECI.to_owned() },
    ]
}

const CURL: &str = r#"curl --fail-with-body URL \
  -H 'Content-Type: application/json' \
  -d '{
    "service": "shopping_cart",
    "description": "Deployed by hand",
    "deployed_at": "'"$(date -u +%Y-%m-%dT%H:%M:%SZ)"'",
    "environment": "production",
    "status": "success",
    "deployer": {"name": "'"${USER:-somebody}"'"}
  }'
"#;

const GITHUB: &str = r#"      - name: Tell the catalogue
        if: always()
        env:
          URL: ${{ secrets.ROLLCALL_URL }}
          STATUS: ${{ job.status }}
          NAME: ${{ github.actor }}
          TITLE: ${{ github.event.head_commit.message || github.workflow }}
        run: |
          jq -n --arg at "$(date -u +%Y-%m-%dT%H:%M:%SZ)" '{
            service: "shopping_cart",
            description: env.TITLE,
            deployed_at: $at,
            environment: "production",
            status: env.STATUS,
            dedup_id: (env.GITHUB_RUN_ID + "-" + env.GITHUB_RUN_ATTEMPT),
            deploy_url: (env.GITHUB_SERVER_URL + "/" + env.GITHUB_REPOSITORY + "/actions/runs/" + env.GITHUB_RUN_ID),
            deployer: {name: env.NAME},
            commit: {sha: env.GITHUB_SHA, branch: env.GITHUB_REF_NAME}
          }' | curl --fail-with-body "$URL" -H 'Content-Type: application/json' -d @-
"#;

const GITLAB: &str = r#"tell the catalogue:
  stage: .post
  image: alpine
  script:
    - apk add --no-cache curl jq
    - |
      jq -n --arg at "$(date -u +%Y-%m-%dT%H:%M:%SZ)" '{
        service: "shopping_cart",
        description: env.CI_COMMIT_TITLE,
        deployed_at: $at,
        environment: "production",
        status: "success",
        dedup_id: env.CI_PIPELINE_ID,
        deploy_url: env.CI_PIPELINE_URL,
        deployer: {name: env.GITLAB_USER_NAME, email: env.GITLAB_USER_EMAIL},
        commit: {sha: env.CI_COMMIT_SHA, message: env.CI_COMMIT_MESSAGE, branch: env.CI_COMMIT_BRANCH}
      }' | curl --fail-with-body "$ROLLCALL_URL" -H 'Content-Type: application/json' -d @-
"#;

const JENKINS: &str = r#"post {
  always {
    withCredentials([string(credentialsId: 'ROLLCALL_URL', variable: 'URL')]) {
      withEnv(["STATUS=${currentBuild.currentResult == 'SUCCESS' ? 'success' : 'failure'}"]) {
        sh '''
          jq -n --arg at "$(date -u +%Y-%m-%dT%H:%M:%SZ)" '{
            service: "shopping_cart",
            description: (env.JOB_NAME + " " + env.BUILD_DISPLAY_NAME),
            deployed_at: $at,
            environment: "production",
            status: env.STATUS,
            dedup_id: env.BUILD_TAG,
            deploy_url: env.BUILD_URL,
            deployer: {name: "Jenkins"},
            commit: {sha: env.GIT_COMMIT, branch: env.GIT_BRANCH}
          }' | curl --fail-with-body "$URL" -H 'Content-Type: application/json' -d @-
        '''
      }
    }
  }
}
"#;

const CIRCLECI: &str = r#"      - run:
          name: Tell the catalogue
          command: |
            jq -n --arg at "$(date -u +%Y-%m-%dT%H:%M:%SZ)" '{
              service: "shopping_cart",
              description: ("Workflow " + env.CIRCLE_WORKFLOW_ID),
              deployed_at: $at,
              environment: "production",
              status: "success",
              dedup_id: env.CIRCLE_WORKFLOW_JOB_ID,
              deploy_url: env.CIRCLE_BUILD_URL,
              deployer: {name: (env.CIRCLE_USERNAME // "CircleCI")},
              commit: {sha: env.CIRCLE_SHA1, branch: env.CIRCLE_BRANCH}
            }' | curl --fail-with-body "$ROLLCALL_URL" -H 'Content-Type: application/json' -d @-
"#;
