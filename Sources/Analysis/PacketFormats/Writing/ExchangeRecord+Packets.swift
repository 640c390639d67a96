internal import Base
internal import Contents
internal import Traffic

/// What an exchange is, as packets have it.
extension ExchangeRecord {
    /// Whether it asked for the way to an origin.
    var isConnect: Bool { asksForTunnel && !RecordedHead(requestHead).isHTTP2 }

    /// Whether the server answered it without having been asked (RFC 9113 §8.4).
    var isPushed: Bool { stream > 0 && stream.isMultiple(of: 2) }

    /// The interim heads up to the one that changes an HTTP/1 connection over to HTTP/2, on which
    /// the final response is stream 1 (RFC 7540 §3.2); empty if none does.
    var switchHeads: ArraySlice<[UInt8]> {
        guard stream == 1, protocolName != "HTTP/2",
            let last = interimHeads.firstIndex(where: { RecordedHead($0).status == 101 })
        else { return [] }
        return interimHeads[...last]
    }

    var isSwitched: Bool { !switchHeads.isEmpty }

    /// Whether a part comes before the connection has changed over.
    func isBeforeSwitch(_ part: ExchangePart) -> Bool {
        guard isSwitched else { return false }
        return switch part {
        case .requestHead, .requestEnd, .content(.request, _): true
        case .interim(let head): switchHeads.contains(head)
        case .responseHead, .responseEnd, .content: false
        }
    }

    /// Whether not all that was said is there.
    var isCut: Bool {
        error != nil || requestBody.isTruncated || responseBody.isTruncated
            || durationMicroseconds == nil
    }
}

extension BodyRecord {
    var isEmpty: Bool { size == 0 && trailers.isEmpty }
}
