internal import Base
internal import HTTPModel

/// One item of a feed, made from the seed, the feed's name and its number.
struct FeedItem {
    let id: String
    let title: String
    let text: String
    let date: HTTPDate
    let number: UInt64

    init(_ number: UInt64, feed: String, seed: UInt64) {
        self.number = number
        var state = SplitMix.mix(seed ^ number)
        for byte in feed.utf8 { state = SplitMix.mix(state ^ UInt64(byte)) }
        let content = GeneratedContent(seed: state)
        let words = (0..<12).map { place in
            Self.words[Int(content.word(UInt64(place)) % UInt64(Self.words.count))]
        }
        id = "urn:sallyport:feed:\(feed):\(number)"
        title = "\(number): \(words.prefix(4).joined(separator: " "))"
        text = words.joined(separator: " ") + "."
        date = HTTPDate(seconds: Self.start + Int64(min(number, 1 << 30)) * 3600)
    }

    /// A small PNG; every fourth item of a gallery is one.
    var picturePath: String { "/gallery/1000/\(number % 250 * 4).png" }
    var filePath: String { "/assets/\(number)/\(Self.fileSize)" }

    /// In bytes: too large for who only looks whether something is new.
    static let fileSize = 250_000

    private static let words = [
        "storm", "market", "bridge", "winter", "council", "orchard", "signal", "harbour",
        "museum", "festival", "railway", "garden", "comet", "theatre", "glacier", "election",
    ]
    /// When the first item of every feed was published: the start of 2026.
    private static let start: Int64 = 1_767_225_600
}
