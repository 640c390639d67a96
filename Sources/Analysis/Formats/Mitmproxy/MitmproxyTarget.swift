internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// The target of a request in the four pieces that a flow has it in.
struct MitmproxyTarget: Equatable {
    let method: [UInt8]
    /// Empty for a `CONNECT`.
    let scheme: [UInt8]
    /// As the request's line had it, or HTTP/2's `:authority`; else empty.
    let authority: [UInt8]
    /// Empty for a `CONNECT`.
    let path: [UInt8]
    /// Without what became the authority.
    let fields: [RecordedHead.Field]

    init(_ exchange: ExchangeRecord, _ head: RecordedHead) {
        let target = Array(head.target)
        method = Array(head.method)
        var fields = head.fields
        let scheme = Array(exchange.scheme.rawValue.utf8)
        if exchange.stream != 0 {
            let host = fields.firstIndex { $0.name.equalsIgnoringCase("host") }
            authority = host.map { fields.remove(at: $0).value } ?? []
            self.fields = fields
            let isConnect = method.equalsIgnoringCase("connect") && target == authority
            self.scheme = isConnect ? [] : scheme
            path = isConnect ? [] : target
            return
        }
        self.fields = fields
        if method.equalsIgnoringCase("connect") {
            (self.scheme, authority, path) = ([], target, [])
        } else if let colon = target.firstIndex(of: UInt8(ascii: ":")), target.first != 0x2F,
            target[(colon + 1)...].starts(with: [0x2F, 0x2F])
        {
            let rest = target[(colon + 3)...]
            self.scheme = Array(target[..<colon])
            authority = Array(rest.prefix { $0 != 0x2F && $0 != 0x3F })
            path = Array(rest.dropFirst(authority.count))
        } else {
            (self.scheme, authority, path) = (scheme, [], target)
        }
    }

    /// The head of a request, in its plainest spelling.
    static func spell(
        _ flow: TnetstringValue, version: String, fields: [RecordedHead.Field]
    ) -> [UInt8] {
        let method = flow["method"]?.bytes ?? Array("GET".utf8)
        let authority = flow["authority"]?.bytes ?? []
        var path = flow["path"]?.bytes ?? []
        var fields = fields
        let isConnect = method.equalsIgnoringCase("connect") && path.isEmpty
        if isConnect {
            path = authority
        } else if !authority.isEmpty, version.hasPrefix("HTTP/1") {
            path = (flow["scheme"]?.bytes ?? []) + Array("://".utf8) + authority + path
        }
        let hasHost = fields.contains { $0.name.equalsIgnoringCase("host") }
        if !authority.isEmpty, !hasHost, !version.hasPrefix("HTTP/1") {
            fields.insert(RecordedHead.Field(name: Array("host".utf8), value: authority), at: 0)
        }
        return RecordedHead.spell(
            startLine: method + [0x20] + path + Array(" \(version)".utf8), fields)
    }
}
