internal import Base
package import Traffic

extension ExchangeRecord {
    /// The target URI (RFC 9110 §7.1) of what was asked for, from any of the four forms of request
    /// targets (RFC 9112 §3.2); a target that is none of them follows the authority as it came.
    ///
    /// - Parameter head: the request's.
    package func url(_ head: RecordedHead) -> [UInt8] {
        url(method: head.method, target: head.target)
    }

    func url(method: ArraySlice<UInt8>, target: ArraySlice<UInt8>) -> [UInt8] {
        if target.first == UInt8(ascii: "/") { return url(path: target) }
        if target.isEmpty || target.elementsEqual([UInt8(ascii: "*")]) { return url(path: []) }
        if method.equalsIgnoringCase("connect") { return Array(target) }
        let scheme = target.prefix { $0.isASCIILetter || $0.isASCIIDigit }
        if !scheme.isEmpty, target[scheme.endIndex...].starts(with: Array("://".utf8)) {
            return Array(target)
        }
        return url(path: [UInt8(ascii: "/")] + target)
    }

    private func url(path: ArraySlice<UInt8>) -> [UInt8] {
        var url: [UInt8] = []
        url.reserveCapacity("https://".utf8.count + authority.utf8.count + path.count)
        url += scheme.rawValue.utf8
        url += "://".utf8
        url += authority.utf8
        url += path
        return url
    }
}
