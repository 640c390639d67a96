internal import Base

/// XMPP's stream before TLS (RFC 6120 §5).
struct XMPPDialogue: Dialogue {
    private static let command = "starttls"

    private var clientTags = TagReader()
    private var originTags = TagReader()
    private var clientDepth = 0
    private var originDepth = 0
    /// `<starttls>` was opened and not closed yet; the same for `<proceed>`.
    private var isAsking = false
    private var isProceeding = false
    private var isAwaiting = false
    private var isOffered = false
    private var hasLoggedIn = false

    var protocolName: String? { "xmpp" }
    var isBetweenMessages: Bool { !clientTags.isInside }

    mutating func client(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        while let tag = clientTags.take(bytes, &index) {
            let depth = Self.follow(tag, &clientDepth)
            if tag.isNamed("starttls"), depth == 1, !tag.isEnd {
                isAsking = true
                facts.append(.asked(command: Self.command))
            }
            if isAsking, tag.isNamed("starttls"), tag.isEnd || tag.isEmpty {
                isAsking = false
                isAwaiting = true
                return .asked(command: Self.command)
            }
            if tag.isNamed("auth") || tag.isNamed("authenticate"), depth == 1, !tag.isEnd {
                note(tag, &facts)
            }
        }
        return .nothing
    }

    mutating func origin(
        _ bytes: Span<UInt8>, _ index: inout Int, _ facts: inout [UpgradeFact]
    ) -> DialogueEvent {
        while let tag = originTags.take(bytes, &index) {
            let depth = Self.follow(tag, &originDepth)
            if tag.isNamed("starttls"), depth == 2, !isOffered {
                isOffered = true
                facts.append(.offered(command: Self.command))
            }
            guard isAwaiting else { continue }
            if tag.isNamed("proceed"), depth == 1, !tag.isEnd { isProceeding = true }
            if isProceeding, tag.isNamed("proceed"), tag.isEnd || tag.isEmpty {
                return .accepted
            }
            // Also `</stream:stream>`, which ends everything.
            let isFailure = tag.isNamed("failure") && depth == 1
            if isFailure || tag.isNamed("stream") && tag.isEnd {
                isAwaiting = false
                return .refused(answer: "<\(shownText(tag.text))>")
            }
        }
        return .nothing
    }

    mutating func abandon() {
        isAwaiting = false
    }

    /// - Returns: how many elements the tag's own element is in.
    private static func follow(_ tag: TagReader.Tag, _ depth: inout Int) -> Int {
        if tag.isDeclaration { return -1 }
        // A stream starts anew without the old one's end (RFC 6120 §4.3.3).
        if tag.isNamed("stream"), !tag.isEnd {
            depth = 1
            return 0
        }
        if tag.isEnd { depth = max(0, depth - 1) }
        let own = depth
        if !tag.isEnd, !tag.isEmpty { depth += 1 }
        return own
    }

    private mutating func note(_ tag: TagReader.Tag, _ facts: inout [UpgradeFact]) {
        guard !hasLoggedIn else { return }
        hasLoggedIn = true
        let known = tag.attribute("mechanism").flatMap { SASLMechanism($0) }
        let login = PlaintextLogin(
            command: known.map { "auth \($0.rawValue)" } ?? "auth", wasUpgradeOffered: isOffered,
            exposesSecret: known?.exposesSecret ?? false)
        facts.append(.plaintextLogin(login))
    }
}

/// Finds the tags in a stream of XML; of each it keeps the first 256 bytes.
struct TagReader {
    private static let limit = 256

    struct Tag {
        /// What is between the angle brackets.
        let text: [UInt8]
        /// `<a/>`.
        let isEmpty: Bool

        /// `</a>`.
        var isEnd: Bool { text.first == 0x2F }
        /// `<?a?>`, `<!a>`.
        var isDeclaration: Bool { text.first == 0x3F || text.first == 0x21 }

        /// Compares the name without its prefix.
        func isNamed(_ name: StaticString) -> Bool {
            let whole = text.drop { $0 == 0x2F }.prefix { !Self.endsName($0) }
            let local = whole.lastIndex(of: 0x3A).map { whole[($0 + 1)...] } ?? whole
            return local.equalsIgnoringCase(name)
        }

        func attribute(_ name: StaticString) -> ArraySlice<UInt8>? {
            let length = name.utf8CodeUnitCount
            var rest = text[...]
            while let space = rest.firstIndex(where: { Self.isSpace($0) }) {
                rest = rest[(space + 1)...].drop { Self.isSpace($0) }
                guard rest.prefix(length).equalsIgnoringCase(name) else { continue }
                var value = rest.dropFirst(length).drop { Self.isSpace($0) }
                guard value.popFirst() == 0x3D else { continue }
                value = value.drop { Self.isSpace($0) }
                guard let quote = value.popFirst() else { return nil }
                return value.prefix { $0 != quote }
            }
            return nil
        }

        private static func isSpace(_ byte: UInt8) -> Bool {
            byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
        }

        private static func endsName(_ byte: UInt8) -> Bool {
            isSpace(byte) || byte == 0x2F
        }
    }

    private(set) var isInside = false
    private var text: [UInt8] = []
    private var quote: UInt8?
    private var isCharacterData = false
    private var last: UInt8 = 0
    private var beforeLast: UInt8 = 0

    /// Takes bytes through the next tag's end; `nil` if they hold none.
    mutating func take(_ bytes: Span<UInt8>, _ index: inout Int) -> Tag? {
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard isInside else {
                if byte == 0x3C { begin() }
                continue
            }
            if byte == 0x3E, ends {
                isInside = false
                if isCharacterData { continue }
                return Tag(text: text, isEmpty: last == 0x2F && text.count > 1)
            }
            follow(byte)
        }
        return nil
    }

    private mutating func begin() {
        self = TagReader()
        isInside = true
    }

    private var ends: Bool {
        isCharacterData ? last == 0x5D && beforeLast == 0x5D : quote == nil
    }

    private mutating func follow(_ byte: UInt8) {
        beforeLast = last
        last = byte
        guard !isCharacterData else { return }
        if text.count < Self.limit { text.append(byte) }
        if text.count == 8, text.elementsEqual("![CDATA[".utf8) {
            isCharacterData = true
        } else if let open = quote {
            if byte == open { quote = nil }
        } else if byte == 0x22 || byte == 0x27 {
            quote = byte
        }
    }
}
