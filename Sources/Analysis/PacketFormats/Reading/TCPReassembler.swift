internal import Base

/// Puts the bytes of one direction of a TCP connection into their order.
struct TCPReassembler {
    /// Of the byte that comes next; `nil` before the first segment.
    private var next: UInt32?
    /// What came too soon, by its sequence number, not beyond what is held.
    private var early: [UInt32: [UInt8]] = [:]
    private var earlyCount = 0
    /// Where those begin in the stream.
    private var order = Heap<Int>()
    /// How many bytes were told, without those of before the first segment.
    private var told = 0
    private var finNumber: UInt32?
    /// Whether bytes are missing, so that nothing more can be told.
    private(set) var hasGap = false
    /// Whether all bytes up to the end have come.
    private(set) var isEnded = false

    /// In bytes: what a sender sends on before it hears that something was lost.
    private static let earlyLimit = 4 << 20

    /// - Returns: the bytes that are next, in order; empty if they came before or are too soon.
    mutating func take(_ segment: TCPSegment) -> [UInt8] {
        guard !hasGap, !isEnded else { return [] }
        var start = segment.number
        if segment.isSYN {
            start &+= 1
            if next == nil { next = start }
        }
        if next == nil { next = start }
        if segment.isFIN { finNumber = start &+ UInt32(segment.content.count) }
        var result: [UInt8] = []
        if !segment.content.isEmpty { place(segment.content, at: start, &result) }
        if let finNumber, finNumber == next { isEnded = true }
        return result
    }

    private mutating func place(
        _ content: ArraySlice<UInt8>, at start: UInt32, _ result: inout [UInt8]
    ) {
        guard let expected = next else { return }
        let distance = Int(Int32(bitPattern: start &- expected))
        if distance > 0 {
            let replaced = early[start]?.count ?? 0
            guard content.count > replaced else { return }
            if early.updateValue([UInt8](content), forKey: start) == nil {
                order.add(told + distance)
            }
            earlyCount += content.count - replaced
            // Early segments are few bytes each at times: count what each costs as well.
            if earlyCount + early.count * 64 > Self.earlyLimit { giveUp() }
            return
        }
        guard -distance < content.count else { return }
        tell(content.dropFirst(-distance), &result)
        releaseEarly(&result)
    }

    private mutating func tell(_ content: ArraySlice<UInt8>, _ result: inout [UInt8]) {
        result += content
        told += content.count
        next = next.map { $0 &+ UInt32(content.count) }
    }

    private mutating func releaseEarly(_ result: inout [UInt8]) {
        while let place = order.first, place <= told, let expected = next {
            _ = order.pop()
            let old = told - place
            let start = expected &- UInt32(truncatingIfNeeded: old)
            guard let content = early.removeValue(forKey: start) else { continue }
            earlyCount -= content.count
            if old < content.count { tell(content.dropFirst(old), &result) }
        }
    }

    /// Whether bytes came behind ones that did not.
    var isWaiting: Bool { !early.isEmpty }

    mutating func giveUp() {
        hasGap = true
        early = [:]
        order = Heap()
        earlyCount = 0
    }
}
