internal import Base

/// Masks the credentials in a dialogue of lines: SMTP (RFC 4954), POP3 (RFC 1939 §7, RFC 5034), IMAP
/// (RFC 9051 §6.2), FTP (RFC 959, RFC 2228), NNTP (RFC 4643), ManageSieve, IRC.
///
/// It knows the commands of all of them at once, because a protocol's name may be unknown: in doubt
/// it masks. A line may come in pieces, as segments do; what a piece cannot tell yet is masked if
/// it is an argument. Of each line it holds no more than `lineLimit` bytes.
struct DialogueRedaction {
    /// What the client's lines are until the server has answered.
    private enum Waiting {
        case nothing
        /// Answers of a SASL exchange (RFC 4422).
        case answers
        /// Literals and answers of the IMAP command with this tag.
        case tagged([UInt8])
    }

    /// A line that has not ended.
    private struct Line {
        var start: [UInt8] = []
        var last: UInt8?

        mutating func append(_ bytes: ArraySlice<UInt8>) {
            start += bytes.prefix(max(0, lineLimit - start.count))
            last = bytes.last ?? last
        }
    }

    private var waiting = Waiting.nothing
    private var clientLine = Line()
    private var serverLine = Line()

    /// Returns the bytes that came next, without the secrets in them.
    mutating func redact(_ bytes: [UInt8], fromClient: Bool) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix { $0 != newline }
            let ends = piece.endIndex < rest.endIndex
            if fromClient {
                result += takeFromClient(piece, ends: ends)
            } else {
                result += piece
                takeFromServer(piece, ends: ends)
            }
            if ends { result.append(newline) }
            rest = rest[min(piece.endIndex + 1, rest.endIndex)...]
        }
        return result
    }

    /// Tells that a message ended, which a line does not outlive.
    mutating func endMessage(fromClient: Bool) {
        if fromClient { endClientLine() } else { endServerLine() }
    }

    private mutating func takeFromClient(_ piece: ArraySlice<UInt8>, ends: Bool) -> [UInt8] {
        let before = clientLine.start.count
        clientLine.append(piece)
        let visible = visibleCount(ends: ends)
        if ends { endClientLine() }
        guard let visible else { return Array(piece) }
        let shown = piece.prefix(max(0, visible - before))
        let hidden = piece[shown.endIndex...]
        guard hidden.contains(where: { $0 != carriageReturn }) else { return Array(piece) }
        return Array(shown) + redactionMark
            + (hidden.last == carriageReturn ? [carriageReturn] : [])
    }

    private mutating func takeFromServer(_ piece: ArraySlice<UInt8>, ends: Bool) {
        serverLine.append(piece)
        if ends { endServerLine() }
    }

    /// How much of the client's line may be seen, `nil` for all.
    private func visibleCount(ends: Bool) -> Int? {
        let line = clientLine.start
        if case .nothing = waiting { return LoginCommand(line, isWhole: ends)?.visibleCount }
        // A lone star gives up (RFC 4954 §4).
        return line == [UInt8(ascii: "*"), carriageReturn] ? nil : 0
    }

    private mutating func endClientLine() {
        defer { clientLine = Line() }
        guard case .nothing = waiting, let command = LoginCommand(clientLine.start, isWhole: true)
        else { return }
        let last = clientLine.last == carriageReturn ? clientLine.start.dropLast().last : nil
        switch command.kind {
        case .exchange(let tag): waiting = tag.map { .tagged($0) } ?? .answers
        // The arguments go on behind a literal (RFC 9051 §4.3).
        case .login(let tag) where (last ?? clientLine.last) == UInt8(ascii: "}"):
            waiting = .tagged(tag)
        case .login, .password: break
        }
    }

    private mutating func endServerLine() {
        defer { serverLine = Line() }
        let line = serverLine.start
        guard !line.isEmpty else { return }
        switch waiting {
        case .nothing: break
        case .answers:
            let goesOn =
                line.starts(with: Array("334".utf8)) || line.starts(with: Array("383".utf8))
                || line.first == UInt8(ascii: "+") && !line.starts(with: Array("+OK".utf8))
            if !goesOn { waiting = .nothing }
        case .tagged(let tag):
            if line.prefix(while: { $0 != space }).elementsEqual(tag) { waiting = .nothing }
        }
    }
}

/// A command that hands a credential over.
private struct LoginCommand {
    enum Kind {
        /// Its arguments are all there is.
        case password
        /// IMAP's `LOGIN`, whose arguments may follow as literals.
        case login(tag: [UInt8])
        /// A SASL exchange, whose answers follow; with the tag of IMAP.
        case exchange(tag: [UInt8]?)
    }

    let kind: Kind
    /// How much of the line is no secret.
    let visibleCount: Int

    /// - Parameter isWhole: whether the line has ended.
    init?(_ line: [UInt8], isWhole: Bool) {
        let words = line.split(
            separator: space, maxSplits: 3, omittingEmptySubsequences: false)
        guard let verb = words.first else { return nil }
        let object = words.dropFirst().first
        switch Self.word(verb) {
        case "PASS", "ACCT", "ADAT", "APOP":
            self.init(.password, after: verb, of: line)
        case "AUTH", "AUTHENTICATE":
            self.init(.exchange(tag: nil), verb, mechanism: object, line, isWhole)
        case "AUTHINFO" where object.map(Self.word) != "USER":
            self.init(.exchange(tag: nil), after: object ?? verb, of: line)
        default:
            switch object.map(Self.word) {
            case "LOGIN": self.init(.login(tag: Array(verb)), after: object ?? verb, of: line)
            case "AUTHENTICATE":
                self.init(
                    .exchange(tag: Array(verb)), object ?? verb,
                    mechanism: words.dropFirst(2).first, line, isWhole)
            default: return nil
            }
        }
    }

    private init(_ kind: Kind, after word: ArraySlice<UInt8>, of line: [UInt8]) {
        self.kind = kind
        visibleCount = min(word.endIndex + 1, line.count)
    }

    /// Leaves the name of a mechanism to be seen, if it is known and there is no more of it.
    private init(
        _ kind: Kind, _ verb: ArraySlice<UInt8>, mechanism: ArraySlice<UInt8>?, _ line: [UInt8],
        _ isWhole: Bool
    ) {
        var last = verb
        if let mechanism, isWhole || mechanism.endIndex < line.count {
            let name = Self.word(mechanism)
            let isKnown =
                mechanisms.contains(name) || mechanismStarts.contains { name.hasPrefix($0) }
            if isKnown { last = mechanism }
        }
        self.init(kind, after: last, of: line)
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> String {
        (bytes.last == carriageReturn ? bytes.dropLast() : bytes).prefix(32).text.uppercased()
    }
}

/// IANA's SASL mechanisms that are in use, and those of FTP's AUTH (RFC 4217).
private let mechanisms: Set<String> = [
    "ANONYMOUS", "CRAM-MD5", "DIGEST-MD5", "EXTERNAL", "GS2-KRB5", "GSS-SPNEGO", "GSSAPI", "LOGIN",
    "NTLM", "OAUTHBEARER", "OTP", "PLAIN", "SSL", "TLS", "TLS-C", "TLS-P", "XOAUTH2",
]
private let mechanismStarts = ["SCRAM-SHA-"]
private let newline = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
private let space = UInt8(ascii: " ")
/// In bytes: a tag, a command and a mechanism fit well.
private let lineLimit = 256
