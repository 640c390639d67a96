internal import Base
internal import Contents

/// PLAIN-HTTP-LOGINPAGE: HTML with a password field over cleartext HTTP, or with a form that leaves
/// a page delivered over TLS in cleartext.
enum LoginPageDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard view.hasOriginResponse, MediaType(view.responseType[...]).isHTML else { return [] }
        var found: RuleMatch?
        MarkupTags.read(view.responseBody, isHTML: true) { tag in
            found = view.isClear ? passwordField(tag) : clearAction(tag)
            return found == nil
        }
        return found.map { [$0] } ?? []
    }

    private static func passwordField(_ tag: MarkupTags.Tag) -> RuleMatch? {
        guard tag.name.lowercasedBytes.text == "input",
            tag.attribute("type")?.trimmed.lowercasedBytes.text == "password"
        else { return nil }
        var result = RuleMatch(.plainHTTPLoginPage, .high, .firm)
        result.container = .html
        result.name = Array("input".utf8)
        return result
    }

    private static func clearAction(_ tag: MarkupTags.Tag) -> RuleMatch? {
        let name: StaticName
        switch tag.name.lowercasedBytes.text {
        case "form": name = "action"
        case "input", "button": name = "formaction"
        default: return nil
        }
        guard let action = tag.attribute(name)?.trimmed,
            action.prefix(7).lowercasedBytes == Array("http://".utf8)
        else { return nil }
        var result = RuleMatch(.plainHTTPLoginPage, .high, .firm)
        result.container = .html
        result.name = name.bytes
        result.leadsTo = HostName(authority: Array(RecordedURL(action).authority))
        return result
    }
}

extension RuleText {
    static let plainHTTPLoginPage = RuleText(
        title: "Login form delivered or posted over cleartext HTTP",
        reason: "whoever is on the path can change where the form sends the password, or read it",
        advice: "deliver the page and its action over https, and redirect http to it with HSTS",
        decision:
            "A page that came without TLS has a password field, or one that came with TLS has a"
            + " form whose action is http.",
        exceptions: "Forms in comments and scripts.",
        party: .origin,
        worst: .high,
        weaknesses: [319, 311])
}
