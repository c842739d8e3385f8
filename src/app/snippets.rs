//! Ready-made pipeline snippets that post deploys, API documents and events.

/// A snippet.
pub struct Snippet {
    /// The tool it is for.
    pub title: &'static str,
    /// What to know before using it.
    pub hint: &'static str,
    /// The text.
    pub text: String,
}

/// The snippets for the deploy endpoint at `url`.
pub fn all(url: &str) -> Vec<Snippet> {
    let snippet = |title, hint, text: &str| Snippet { title, hint, text: text.replace("ADDRESS", &format!("'{url}'")) };
    vec![
        snippet("curl", "Runs in any shell. Replace shopping_cart with the alias of your service.", CURL),
        snippet(
            "rollcall deploy",
            "For pipelines that have this program. It finds the commit, the run and who started it, and retries while \
             the server is unreachable. Store the URL in a secret called ROLLCALL_DEPLOY_URL.",
            PROGRAM,
        ),
        snippet(
            "GitHub Actions",
            "A step after the one that deploys. Store the URL in a secret called ROLLCALL_DEPLOY_URL.",
            GITHUB,
        ),
        snippet(
            "GitLab CI",
            "For the job that deploys, whose image needs curl and jq. Store the URL in a masked variable called \
             ROLLCALL_DEPLOY_URL.",
            GITLAB,
        ),
        snippet(
            "Jenkins",
            "The end of a declarative pipeline, on an agent with curl and jq. Store the URL in a secret text with the \
             id ROLLCALL_DEPLOY_URL.",
            JENKINS,
        ),
        snippet(
            "CircleCI",
            "Two steps after the one that deploys: one for success and one for failure. Store the URL in a variable \
             called ROLLCALL_DEPLOY_URL.",
            CIRCLECI,
        ),
    ]
}

/// The snippet for the endpoint for API documents at `url`.
pub fn document(url: &str) -> Snippet {
    Snippet {
        title: "curl",
        hint: "Replace shopping_cart with the alias of your service. Post an OpenAPI, AsyncAPI, GraphQL or Markdown \
               document unchanged. In a pipeline, store the URL in a secret.",
        text: format!("curl --fail-with-body '{url}/shopping_cart' --data-binary @openapi.yml\n"),
    }
}

/// The snippet for the endpoint for custom events at `url`.
pub fn event(url: &str) -> Snippet {
    Snippet {
        title: "curl",
        hint: "Post any JSON: the checks of its events say what they read from it. In a pipeline, store the URL in a \
               secret.",
        text: EVENT.replace("ADDRESS", &format!("'{url}'")),
    }
}

const EVENT: &str = r#"curl --fail-with-body ADDRESS \
  -H 'Content-Type: application/json' \
  -d '{"component": "shopping_cart", "critical": 0}'
"#;

const CURL: &str = r#"curl --fail-with-body ADDRESS \
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

const PROGRAM: &str = "ROLLCALL_DEPLOY_URL=ADDRESS \\
  rollcall deploy --service shopping_cart --environment production --status succeeded
";

const GITHUB: &str = r#"      - name: Report the deploy
        if: always()
        env:
          ROLLCALL_DEPLOY_URL: ${{ secrets.ROLLCALL_DEPLOY_URL }}
          STATUS: ${{ job.status }}
          NAME: ${{ github.actor }}
          TITLE: ${{ github.event.head_commit.message || github.workflow }}
          COMMITTED: ${{ github.event.head_commit.timestamp }}
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
            commit: {sha: env.GITHUB_SHA, branch: env.GITHUB_REF_NAME, date: env.COMMITTED}
          }' | curl --fail-with-body --retry 5 "$ROLLCALL_DEPLOY_URL" -H 'Content-Type: application/json' -d @-
"#;

const GITLAB: &str = r#"  after_script:
    - |
      jq -n --arg at "$(date -u +%Y-%m-%dT%H:%M:%SZ)" '{
        service: "shopping_cart",
        description: env.CI_COMMIT_TITLE,
        started_at: env.CI_JOB_STARTED_AT,
        deployed_at: $at,
        environment: (env.CI_ENVIRONMENT_NAME // "production"),
        status: env.CI_JOB_STATUS,
        dedup_id: env.CI_JOB_ID,
        deploy_url: env.CI_JOB_URL,
        deployer: {name: env.GITLAB_USER_NAME, email: env.GITLAB_USER_EMAIL},
        commit: {
          sha: env.CI_COMMIT_SHA,
          message: env.CI_COMMIT_MESSAGE,
          branch: env.CI_COMMIT_BRANCH,
          date: env.CI_COMMIT_TIMESTAMP
        }
      }' | curl --fail-with-body --retry 5 "$ROLLCALL_DEPLOY_URL" -H 'Content-Type: application/json' -d @-
"#;

const JENKINS: &str = r#"post {
  always {
    withCredentials([string(credentialsId: 'ROLLCALL_DEPLOY_URL', variable: 'ROLLCALL_DEPLOY_URL')]) {
      withEnv(["STATUS=${[SUCCESS: 'success', ABORTED: 'cancelled'][currentBuild.currentResult] ?: 'failed'}"]) {
        sh '''
          jq -n --arg at "$(date -u +%Y-%m-%dT%H:%M:%SZ)" --arg committed "$(git log -1 --format=%cI)" '{
            service: "shopping_cart",
            description: (env.JOB_NAME + " " + env.BUILD_DISPLAY_NAME),
            deployed_at: $at,
            environment: "production",
            status: env.STATUS,
            dedup_id: env.BUILD_TAG,
            deploy_url: env.BUILD_URL,
            deployer: {name: "Jenkins"},
            commit: {sha: env.GIT_COMMIT, branch: env.GIT_BRANCH, date: $committed}
          }' | curl --fail-with-body --retry 5 "$ROLLCALL_DEPLOY_URL" -H 'Content-Type: application/json' -d @-
        '''
      }
    }
  }
}
"#;

const CIRCLECI: &str = r#"      - run: &tell
          name: Report the deploy
          environment: {STATUS: success}
          command: |
            jq -n --arg at "$(date -u +%Y-%m-%dT%H:%M:%SZ)" --arg committed "$(git log -1 --format=%cI)" '{
              service: "shopping_cart",
              description: ("Workflow " + env.CIRCLE_WORKFLOW_ID),
              deployed_at: $at,
              environment: "production",
              status: env.STATUS,
              dedup_id: env.CIRCLE_WORKFLOW_JOB_ID,
              deploy_url: env.CIRCLE_BUILD_URL,
              deployer: {name: (env.CIRCLE_USERNAME // "CircleCI")},
              commit: {sha: env.CIRCLE_SHA1, branch: env.CIRCLE_BRANCH, date: $committed}
            }' | curl --fail-with-body --retry 5 "$ROLLCALL_DEPLOY_URL" -H 'Content-Type: application/json' -d @-
      - run:
          <<: *tell
          when: on_fail
          environment: {STATUS: failed}
"#;
