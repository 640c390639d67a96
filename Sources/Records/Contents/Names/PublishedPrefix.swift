/// The first characters that a provider publishes for its keys: no part of the secret.
package enum PublishedPrefix: String, Sendable, CaseIterable {
    case githubFineGrained = "github_pat_"
    case githubPersonal = "ghp_"
    case githubOAuth = "gho_"
    case githubUser = "ghu_"
    case githubServer = "ghs_"
    case githubRefresh = "ghr_"
    case gitlabPersonal = "glpat-"
    case awsAccessKey = "AKIA"
    case awsTemporaryKey = "ASIA"
    case stripeLive = "sk_live_"
    case stripeTest = "sk_test_"
    case stripeRestricted = "rk_live_"
    case stripePublishableLive = "pk_live_"
    case stripePublishableTest = "pk_test_"
    case slackBot = "xoxb-"
    case slackUser = "xoxp-"
    case slackApp = "xapp-"
    case googleAPI = "AIza"
    case googleOAuth = "ya29."
    case sendGrid = "SG."
    case npm = "npm_"
    case pypi = "pypi-"
    case anthropic = "sk-ant-"
    case openAIProject = "sk-proj-"
    case huggingFace = "hf_"
    case digitalOcean = "dop_v1_"
    case shopify = "shpat_"
    case vault = "hvs."
    case age = "AGE-SECRET-KEY-1"
    case postHog = "phc_"
    case mapboxPublic = "pk.eyJ"
    case mapboxSecret = "sk.eyJ"

    /// Recognises a value that is long enough to be a key after its prefix.
    package init?(of value: [UInt8]) {
        guard value.count >= 20, value.count <= 512, Self.firstBytes[Int(value[0])] else {
            return nil
        }
        guard value.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        for candidate in PublishedPrefix.allCases {
            let prefix = candidate.rawValue.utf8
            if value.starts(with: prefix), value.count >= prefix.count + 12 {
                self = candidate
                return
            }
        }
        return nil
    }

    /// Which bytes begin one: most values begin with none.
    package static let firstBytes: [Bool] = {
        var table = [Bool](repeating: false, count: 256)
        for prefix in allCases { table[Int(prefix.rawValue.utf8.first ?? 0)] = true }
        return table
    }()

    /// Whether its provider means such keys to be seen by everyone.
    package var isPublishable: Bool {
        switch self {
        case .stripePublishableLive, .stripePublishableTest, .googleAPI, .mapboxPublic,
            .postHog:
            true
        default: false
        }
    }
}
