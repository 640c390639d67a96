internal import Base
internal import Contents

/// A key by the whole form that its provider publishes: prefix, alphabet and length.
struct ProviderKey {
    let prefix: PublishedPrefix
    /// Whether no other value has this form.
    let isCertain: Bool

    /// Recognises a value that is a key and nothing else; examples of documentation are none.
    init?(_ value: [UInt8]) {
        guard let prefix = PublishedPrefix(of: value), let form = Self.forms[prefix],
            form.lengths.contains(value.count - prefix.rawValue.utf8.count),
            !Self.isExample(value.dropFirst(prefix.rawValue.utf8.count))
        else { return nil }
        let rest = value.dropFirst(prefix.rawValue.utf8.count)
        guard rest.allSatisfy(form.alphabet.contains) else { return nil }
        self.prefix = prefix
        isCertain = form.isCertain
    }

    /// Keys in text that is no field, such as a script, each between bytes that are none of a key's.
    static func read(in text: [UInt8], _ visit: (_ key: ProviderKey, _ value: [UInt8]) -> Bool) {
        let text = text.span
        var start = 0
        for index in 0...text.count {
            if index < text.count, isWordByte(text[index]) || text[index] == 0x2E { continue }
            let length = index - start
            if shortest...longest ~= length, PublishedPrefix.firstBytes[Int(text[start])] {
                let word = (start..<index).map { text[$0] }
                if let key = ProviderKey(word), !visit(key, word) { return }
            }
            start = index + 1
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == 0x5F || byte == 0x2D
    }

    /// Whether somebody made it up: of few characters, in a row, or called an example.
    private static func isExample(_ rest: ArraySlice<UInt8>) -> Bool {
        let lower = rest.lowercasedBytes
        if lower.contains(run: Array("example".utf8)) || lower.contains(run: Array("xxxx".utf8)) {
            return true
        }
        var steps = 0
        for (one, next) in zip(lower, lower.dropFirst()) where next == one || next == one &+ 1 {
            steps += 1
        }
        return steps * 2 > lower.count || Set(lower).count < min(8, lower.count / 2)
    }

    private enum Alphabet {
        case alphanumeric
        /// With `-` and `_`, as in Base64url.
        case word
        case hexadecimal
        /// Capitals and digits.
        case capitals

        func contains(_ byte: UInt8) -> Bool {
            switch self {
            case .alphanumeric: byte.isASCIILetter || byte.isASCIIDigit
            case .word: ProviderKey.isWordByte(byte) || byte == 0x2E
            case .hexadecimal: byte.hexDigitValue != nil && !(0x41...0x46).contains(byte)
            case .capitals: byte.isASCIIDigit || (0x41...0x5A).contains(byte)
            }
        }
    }

    private typealias Form = (alphabet: Alphabet, lengths: ClosedRange<Int>, isCertain: Bool)

    /// As the providers document them, and as scanners of repositories know them.
    private static let forms: [PublishedPrefix: Form] = [
        .githubFineGrained: (.word, 82...82, true), .githubPersonal: (.alphanumeric, 36...36, true),
        .githubOAuth: (.alphanumeric, 36...36, true), .githubUser: (.alphanumeric, 36...36, true),
        .githubServer: (.alphanumeric, 36...36, true),
        .githubRefresh: (.alphanumeric, 36...76, true), .gitlabPersonal: (.word, 20...20, true),
        .awsAccessKey: (.capitals, 16...16, false), .awsTemporaryKey: (.capitals, 16...16, false),
        .stripeLive: (.alphanumeric, 16...247, true),
        .stripeTest: (.alphanumeric, 16...247, false),
        .stripeRestricted: (.alphanumeric, 16...247, true),
        .stripePublishableLive: (.alphanumeric, 16...247, false),
        .stripePublishableTest: (.alphanumeric, 16...247, false),
        .slackBot: (.word, 20...120, true), .slackUser: (.word, 20...120, true),
        .slackApp: (.word, 20...120, true), .googleAPI: (.word, 35...35, false),
        .googleOAuth: (.word, 40...400, false), .sendGrid: (.word, 66...66, true),
        .npm: (.alphanumeric, 36...36, true), .pypi: (.word, 50...400, true),
        .anthropic: (.word, 80...120, true), .openAIProject: (.word, 60...200, true),
        .huggingFace: (.alphanumeric, 34...40, false),
        .digitalOcean: (.hexadecimal, 64...64, true), .shopify: (.hexadecimal, 32...32, true),
        .mapboxPublic: (.word, 60...300, false), .mapboxSecret: (.word, 60...300, false),
        .vault: (.word, 90...120, true), .age: (.capitals, 58...58, true),
    ]

    private static let shortest = 20
    private static let longest = 512
}
