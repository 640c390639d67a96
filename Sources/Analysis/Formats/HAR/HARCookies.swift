internal import Base
internal import Contents
internal import HTTPModel

/// Cookies as HAR has them.
enum HARCookies {
    /// Those of `Cookie` fields (RFC 6265 §5.4).
    static func sent(_ values: [ArraySlice<UInt8>]) -> JSONText {
        .array(
            values.flatMap(CookiePair.sent).map { cookie in
                ["name": .bytes(Array(cookie.name)), "value": .bytes(Array(cookie.value))]
            })
    }

    /// Those of `Set-Cookie` fields, with their attributes (RFC 6265 §5.2).
    static func set(_ values: [ArraySlice<UInt8>], at time: Timestamp) -> JSONText {
        .array(values.map { cookie($0, at: time) })
    }

    /// The `Cookie` field of a request that has cookies and no such field, as Insomnia writes it.
    static func missing(in fields: [RecordedHead.Field], of request: JSONNode) -> [RecordedHead
        .Field]
    {
        let cookies = HARContentReader.pairs(request["cookies"]?.elements ?? [])
        guard !cookies.isEmpty, !fields.contains(where: { $0.name.equalsIgnoringCase("cookie") })
        else { return [] }
        let pairs = cookies.map { $0.name + [UInt8(ascii: "=")] + $0.value }
        return [
            RecordedHead.Field(
                name: Array("cookie".utf8), value: Array(pairs.joined(separator: Array("; ".utf8))))
        ]
    }

    /// Parts the `Set-Cookie` fields that Safari and HTTP Toolkit joined by commas: a comma parts if
    /// a name and `=` follow it, and if that name is among the cookies, where those are told. No
    /// cookie can hold a comma (RFC 6265 §4.1.1), except in its date.
    static func parting(_ fields: [RecordedHead.Field], of response: JSONNode) -> [RecordedHead
        .Field]
    {
        let names = Set(HARContentReader.pairs(response["cookies"]?.elements ?? []).map(\.name))
        return fields.flatMap { field in
            guard field.name.equalsIgnoringCase("set-cookie") else { return [field] }
            return parts(of: field.value, names).map {
                RecordedHead.Field(name: field.name, value: Array($0.trimmingWhitespace))
            }
        }
    }

    private static func parts(
        of value: [UInt8], _ names: Set<[UInt8]>
    ) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = value.startIndex
        for comma in value.indices where value[comma] == UInt8(ascii: ",") {
            let rest = value[(comma + 1)...].drop { $0 == 0x20 }
            let name = rest.prefix { $0.isTokenByte }
            guard !name.isEmpty, rest.dropFirst(name.count).first == UInt8(ascii: "="),
                names.isEmpty || names.contains(Array(name))
            else { continue }
            parts.append(value[start..<comma])
            start = comma + 1
        }
        return parts + [value[start...]]
    }

    private static func cookie(_ field: ArraySlice<UInt8>, at time: Timestamp) -> JSONText {
        let (cookie, attributes) = CookiePair.set(field)
        var members = [
            JSONText.Member("name", .bytes(Array(cookie.name))),
            JSONText.Member("value", .bytes(Array(cookie.value))),
        ]
        var (isHTTPOnly, isSecure) = (false, false)
        var (expires, age): (Timestamp?, Timestamp?) = (nil, nil)
        for attribute in attributes {
            let value = Array(attribute.value)
            switch attribute.name.map(\.asciiLowercased).text {
            case "path": members.append(JSONText.Member("path", .bytes(value)))
            case "domain": members.append(JSONText.Member("domain", .bytes(value)))
            case "samesite": members.append(JSONText.Member("sameSite", .bytes(value)))
            case "httponly": isHTTPOnly = true
            case "secure": isSecure = true
            case "expires": expires = Timestamp(cookieDate: value[...])
            case "max-age": age = Int64(value.text).flatMap { time.after(seconds: $0) }
            default: break
            }
        }
        // Max-Age goes before Expires (RFC 6265 §5.3).
        if let end = age ?? expires {
            members.append(JSONText.Member("expires", .string(end.iso8601)))
        }
        members.append(JSONText.Member("httpOnly", .boolean(isHTTPOnly)))
        members.append(JSONText.Member("secure", .boolean(isSecure)))
        return .object(members)
    }
}

extension Timestamp {
    /// `nil` for a moment that no calendar here can write.
    fileprivate func after(seconds: Int64) -> Timestamp? {
        guard (-100_000_000_000...100_000_000_000).contains(seconds) else { return nil }
        let (end, overflow) = microseconds.addingReportingOverflow(seconds * 1_000_000)
        return overflow || !RecordedNumber.moments.contains(end)
            ? nil : Timestamp(microseconds: end)
    }
}
