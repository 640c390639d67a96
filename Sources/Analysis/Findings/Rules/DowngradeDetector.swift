internal import Base
internal import Contents
internal import Traffic

/// REDIRECT-DOWNGRADE: https responses that lead to http.
enum DowngradeDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard !view.isClear, view.hasOriginResponse else { return [] }
        return (redirect(view) ?? content(view)).map { [$0] } ?? []
    }

    private static func redirect(_ view: ExchangeView) -> RuleMatch? {
        guard [301, 302, 303, 307, 308].contains(view.exchange.status),
            let host = clearHost(view.responseFacts.location)
        else { return nil }
        var result = match(.redirectsToClear, host)
        result.container = .header
        result.name = Array("location".utf8)
        var fields = FieldReader()
        let target = RecordedURL(view.responseFacts.location)
        fields.add(Array(target.parameters.prefix(64)), container: .query)
        let isSecret =
            target.userinfo.contains(0x3A)
            || fields.fields.contains { ValueKind($0.value).isCredentialByForm }
        if isSecret {
            result.severity = .high
            result.notes.append(.hygiene(.redirectCarriesSecret))
        }
        return result
    }

    /// Pages and playlists: what they load is part of them.
    private static func content(_ view: ExchangeView) -> RuleMatch? {
        let type = MediaType(view.responseType[...])
        if type.isHTML {
            guard !view.responseFacts.upgradesInsecure else { return nil }
            return page(view.responseBody)
        }
        return type.isPlaylist ? playlist(view.responseBody) : nil
    }

    private static func page(_ body: [UInt8]) -> RuleMatch? {
        var found: RuleMatch?
        MarkupTags.read(body, isHTML: true) { tag in
            guard let name = loaded[tag.name.lowercasedBytes.text] else { return true }
            if name.bytes == Array("href".utf8), !isStyle(tag) { return true }
            guard let host = tag.attribute(name).flatMap({ clearHost($0.trimmed) }) else {
                return true
            }
            var result = match(.loadsActiveContent, host)
            result.container = .html
            result.name = tag.name.lowercasedBytes
            found = result
            return false
        }
        return found
    }

    private static func isStyle(_ tag: MarkupTags.Tag) -> Bool {
        tag.attribute("rel")?.trimmed.lowercasedBytes.text == "stylesheet"
    }

    /// HTTP Live Streaming (RFC 8216 §4.1): a line is an address, or has one in `URI="…"`.
    private static func playlist(_ body: [UInt8]) -> RuleMatch? {
        guard body.starts(with: "#EXTM3U".utf8) else { return nil }
        for line in body.split(separator: 0x0A, maxSplits: lineLimit) {
            var address = line
            if line.first == 0x23 {
                guard let start = Array(line.prefix(1024)).firstIndex(ofRun: quotedAddress, from: 0)
                else { continue }
                address = line.dropFirst(start + quotedAddress.count).prefix { $0 != 0x22 }
            }
            guard let host = clearHost(Array(address.prefix(2048))) else { continue }
            var result = match(.listsClearMedia, host)
            result.container = .body
            return result
        }
        return nil
    }

    private static func match(_ flaw: HygieneFlaw, _ host: HostName) -> RuleMatch {
        var result = RuleMatch(.redirectDowngrade, .medium, .certain)
        result.notes = [.hygiene(flaw)]
        result.leadsTo = host
        return result
    }

    /// The host of an address of http, `nil` if it is none, or one of this machine: programs take
    /// what a browser brings back on a loopback port (RFC 8252 §7.3).
    private static func clearHost(_ address: [UInt8]) -> HostName? {
        guard address.prefix(7).lowercasedBytes == Array("http://".utf8) else { return nil }
        let host = HostName(authority: Array(RecordedURL(address).authority))
        return host.isEmpty || host.isLoopback ? nil : host
    }

    /// What runs in a page or styles it, by its element and the attribute that names it.
    private static let loaded: [String: StaticName] = [
        "script": "src", "iframe": "src", "frame": "src", "embed": "src", "object": "data",
        "link": "href",
    ]
    private static let quotedAddress = Array("URI=\"".utf8)
    private static let lineLimit = 8192
}

extension RuleText {
    static let redirectDowngrade = RuleText(
        title: "An https response leads to http",
        reason: "what is asked for next can be read and changed by anyone on the path",
        advice: "name https addresses in redirects, pages and playlists",
        decision:
            "A redirect of an https response leads to http, or an https page or playlist loads"
            + " scripts, styles, frames or media from there (RFC 9110 §17.1, Mixed Content §3).",
        exceptions:
            "Loopback addresses, to which browsers bring back what native programs asked for (RFC"
            + " 8252 §7.3), and pages with upgrade-insecure-requests. Whether the client followed"
            + " is not decided.",
        party: .origin, worst: .high,
        weaknesses: [319, 757, 311])
}
