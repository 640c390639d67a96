internal import Base
internal import Contents

/// XMPP: SASL (RFC 6120 §6, XEP-0388), and the older way (XEP-0078).
enum XMPPLoginReader {
    static func logins(client: [UInt8]) -> [ClearLogin] {
        var reader = MarkupTokenizer(client)
        var found: [ClearLogin] = []
        var element = ""
        var answers: SASLAnswers?
        var said: [[UInt8]] = []
        var user: ArraySlice<UInt8>?
        while found.count < ClearLogin.countLimit, let token = reader.next() {
            switch token.kind {
            case .startTag:
                element = client[token.content].lowercasedBytes.text
                guard element == "auth" || element == "authenticate" else { continue }
                let attribute = token.attributes.first {
                    client[$0.name].elementsEqual("mechanism".utf8)
                }
                let word = attribute?.value.map { client[$0] } ?? []
                (answers, said) = (SASLAnswers(mechanism: word), [])
            case .endTag: element = ""
            // Text that goes on behind what is there may be half of it.
            case .text where token.range.upperBound < client.count:
                let text = client[token.content]
                switch element {
                case "auth", "response", "initial-response":
                    guard let kind = answers, let answer = Base64.decode(text) else { continue }
                    said.append(answer)
                    guard said.count == kind.count else { continue }
                    if let login = kind.login(.xmpp, .saslPlain, said) { found.append(login) }
                case "username": user = text
                case "password":
                    if let login = ClearLogin(.xmpp, .queryAuth, user: user, secret: text) {
                        found.append(login)
                    }
                default: break
                }
            default: break
            }
        }
        return found
    }
}
