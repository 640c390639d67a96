internal import Base
internal import HTTPModel
internal import HTTPServer

/// Bytes of a representation that one response sent.
struct SentBytes {
    /// Which record it is of, by its place.
    let record: Int
    /// What was to go out.
    let planned: Range<UInt64>
    /// What may have reached the client: it went into a socket, or is going to.
    let possible: Range<UInt64>
    /// What surely did; it begins where the others do.
    let sure: Range<UInt64>
    /// Whether the client may have got no more than a part of what went out.
    let isCutShort: Bool
}

extension JournalRecord {
    /// The bytes of the representation that went out, or are going out.
    func sentBytes(_ place: Int) -> [SentBytes] {
        let (possible, sure) = (sent?.count ?? .max, sureCount)
        return parts.compactMap { part in
            func bytes(_ count: UInt64) -> Range<UInt64> {
                let whole = part.range.upperBound - part.range.lowerBound
                let length = min(count - min(count, part.offset), whole)
                return part.range.lowerBound..<part.range.lowerBound + length
            }
            guard !bytes(possible).isEmpty else { return nil }
            return SentBytes(
                record: place, planned: part.range, possible: bytes(possible), sure: bytes(sure),
                isCutShort: sent != nil && sure < possible)
        }
    }

    /// How many bytes of the content the client has surely read.
    ///
    /// What a socket took may never have arrived, and what the client's system has acknowledged may
    /// not have been read by a client that left: the system keeps some, and discards it.
    private var sureCount: UInt64 {
        guard let sent else { return 0 }
        switch sent.end {
        case .whole where !sent.isDoubtful: return sent.count
        case .cut where !sent.isDoubtful: return min(sent.count, sent.acknowledged ?? sent.count)
        case .whole, .cut, .failed, .left, .stopped:
            let acknowledged = sent.acknowledged ?? 0
            return acknowledged - min(acknowledged, Self.windowSize)
        }
    }

    /// What a client's system holds at most for a client that reads slowly, in bytes: Linux keeps up
    /// to 6 MiB unless told otherwise.
    private static let windowSize: UInt64 = 8 << 20

    static func parts(_ response: ServerResponse, toMethod method: String) -> [ContentPart] {
        guard method == "GET", !response.isSubstitute else { return [] }
        if !response.parts.isEmpty { return response.parts }
        let selected = response.selected
        switch response.status {
        case 200:
            let length = selected == nil ? response.body.length : selected?.length
            return [ContentPart(at: 0, 0..<(length ?? .max))]
        case 206:
            // A part that is coded has no place in the representation.
            guard selected?.coding != nil || response.first("Content-Encoding") == nil,
                let part = selected?.part ?? label(response)?.part
            else { return [] }
            return [ContentPart(at: 0, part)]
        default: return []
        }
    }

    /// The length of the representation; `nil` if the response does not tell it.
    static func total(_ response: ServerResponse) -> UInt64? {
        guard !response.isSubstitute else { return nil }
        if let selected = response.selected, [200, 206].contains(response.status) {
            return selected.length
        }
        switch response.status {
        case 200: return response.body.length
        case 206: return label(response)?.total
        default: return nil
        }
    }

    private static func label(
        _ response: ServerResponse
    ) -> (part: Range<UInt64>, total: UInt64?)? {
        guard let text = response.first("Content-Range") else { return nil }
        do throws(ContentRangeViolation) {
            guard case .part(let range, let total) = try ContentRange([UInt8](text.utf8)[...])
            else { return nil }
            return (range, total)
        } catch {
            return nil
        }
    }
}
