internal import Base

/// LDAP: a simple bind with a password, and mechanisms of SASL (RFC 4511 §4.2).
struct LDAPLoginReader {
    static func logins(client: [UInt8]) -> [ClearLogin] {
        var reader = LDAPLoginReader()
        var cursor = ByteCursor(client[...])
        while reader.found.count < ClearLogin.countLimit, let message = cursor.element(),
            message.tag == 0x30
        {
            var parts = ByteCursor(message.content)
            guard parts.element()?.tag == 0x02, let operation = parts.element() else { break }
            // What follows a request for TLS is not plain any more.
            if operation.tag == 0x77 { break }
            if operation.tag == 0x60 { reader.takeBind(operation.content) }
        }
        return reader.found
    }

    private var found: [ClearLogin] = []
    /// What the binds of one login have answered so far.
    private var answers: [[UInt8]] = []

    private mutating func takeBind(_ request: ArraySlice<UInt8>) {
        var parts = ByteCursor(request)
        guard parts.element()?.tag == 0x02, let name = parts.element(), name.tag == 0x04,
            let choice = parts.element()
        else { return }
        if choice.tag == 0x80 {
            add(ClearLogin(.ldap, .simpleBind, user: name.content, secret: choice.content))
            return
        }
        var credentials = ByteCursor(choice.content)
        guard choice.tag == 0xA3, let mechanism = credentials.element(), mechanism.tag == 0x04,
            let message = credentials.element(), message.tag == 0x04
        else { return }
        if let answer = NTLMAnswer(in: message.content) {
            add(ClearLogin(.ldap, answer))
            return
        }
        guard let sasl = SASLAnswers(mechanism: mechanism.content) else { return }
        answers.append(Array(message.content))
        // DIGEST-MD5 and CRAM-MD5 begin with an empty answer, or with none.
        if let login = sasl.login(.ldap, .saslBindPlain, Array(answers.suffix(sasl.count))) {
            add(login)
        }
        if answers.count > Self.answerLimit { answers = [] }
    }

    private mutating func add(_ login: ClearLogin?) {
        answers = []
        if let login { found.append(login) }
    }

    private static let answerLimit = 4
}
