internal import Base
internal import Contents
internal import HTTPCodecs
internal import HTTPModel
internal import Traffic

/// ECON-COMPRESS: text that was sent uncompressed although the client takes it compressed.
struct CompressionDetector {
    fileprivate struct Waste {
        var size: Int64 = 0
        var saved: Int64 = 0
        var count = 0
        let sighting: Sighting
    }

    private var wastes: [URLTemplate: Waste] = [:]
    /// How much may still be compressed to see what it saves, in bytes.
    private var trialBytesLeft = 64 << 20

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) {
        let size = view.exchange.responseBody.size
        guard size >= Self.leastSaving, view.exchange.status == 200, view.hasOriginResponse,
            !view.responseFacts.isCoded, !view.responseFacts.cache.forbidsChange,
            MediaType(view.responseType[...]).isCompressible, takesCompressed(view)
        else { return }
        let saved = saving(view.responseBody, of: size)
        guard saved >= Self.leastSaving, saved >= 20_000 || saved * 10 >= size else { return }
        let sighting = evidence.sighting
        if wastes[sighting.place] == nil {
            guard wastes.count < Self.countLimit else { return }
            wastes[sighting.place] = Waste(sighting: sighting)
        }
        wastes[sighting.place]?.add(size, saved: saved)
    }

    func finish() -> [LateMatch] {
        let found = wastes.values.sorted {
            ($0.sighting.exchange ?? 0) < ($1.sighting.exchange ?? 0)
        }
        return found.map { waste in
            var match = LateMatch(
                .economyCompression, waste.saved > 1 << 20 ? .medium : .low, .certain,
                at: waste.sighting)
            match.notes = [.measured(.saves(waste.saved, of: waste.size, responses: waste.count))]
            return match
        }
    }

    private func takesCompressed(_ view: ExchangeView) -> Bool {
        let taken = view.request.elements(named: "accept-encoding")
        let hasRange = view.request.first(named: "range") != nil
        return !hasRange
            && taken.contains { element in
                let value = ParameterizedValue(element)
                return ContentCoding(name: Array(value.text.utf8)[...]) != nil
                    && value["q"].map { $0.contains { 0x31...0x39 ~= $0 } } ?? true
            }
    }

    /// About how much of a content compression saves, judged by its start.
    private mutating func saving(_ body: [UInt8], of size: Int64) -> Int64 {
        let sample = body.prefix(Self.sampleLimit)
        guard sample.count <= trialBytesLeft, !sample.isEmpty else { return 0 }
        trialBytesLeft -= sample.count
        let packed = ContentEncoder.encode(Array(sample)).count
        // In two steps, because a file may claim any size.
        let (part, whole) = (Int64(min(packed, sample.count)), Int64(sample.count))
        return size - (size / whole * part + size % whole * part / whole)
    }

    /// Lighthouse's threshold, in bytes: less is about what one packet holds.
    private static let leastSaving: Int64 = 1400
    private static let sampleLimit = 1 << 16
    private static let countLimit = 1024
}

extension CompressionDetector.Waste {
    fileprivate mutating func add(_ size: Int64, saved: Int64) {
        self.size = self.size.addingSaturated(size)
        self.saved = self.saved.addingSaturated(saved)
        count += 1
    }
}

extension RuleText {
    static let economyCompression = RuleText(
        title: "Text sent uncompressed",
        reason: "it takes more time, money and battery than it needs",
        advice: "switch compression on for text, JSON, scripts and SVG",
        decision:
            "A response of text without Content-Encoding, to a client that takes some, would be"
            + " 1,400 bytes and a tenth smaller in gzip, or 20 kB; measured on its first 64 KiB.",
        exceptions:
            "Parts of contents, no-transform, and what is small. Secrets beside what an attacker"
            + " chooses are better not compressed (BREACH).",
        party: .origin, worst: .medium,
        weaknesses: [])
}
