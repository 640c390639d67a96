package import Base

/// What came of fetching a feed.
package struct FeedReport: Sendable, Equatable {
    package let url: String
    package var result = RefreshResult.noData
    /// Of the last response; `nil` if there was none.
    package var status: Int?
    package var items: [KeptItem] = []
    /// Heads and contents, of the feed and its thumbnails.
    package var bytes: Int64 = 0
    package var thumbnailCount = 0
    package var thumbnailBytes = 0
    package var handedCount = 0
    /// Whether the feed is gone for good.
    package var isGone = false
    /// How often the validators changed without reason, up to now.
    package var flapCount = 0
    /// In milliseconds: how long the server wants to be left alone.
    package var retryAfter: Int64?
    package var failure: Failure?

    init(_ url: String) {
        self.url = url
    }

    mutating func fail(_ failure: Failure) {
        result = .failed
        self.failure = failure
    }

    /// Whether its server was not asked: the feed is gone, or the server wants to be left alone.
    package var wasSkipped: Bool { status == nil && failure == nil }

    /// The values of an event, but for the URL and the failure.
    package var values: [(String, JSONText)] {
        [
            ("result", .string(result.rawValue)), ("status", .optional(status)),
            ("items", .integer(Int64(items.count))), ("bytes", .integer(bytes)),
            ("thumbnails", .integer(Int64(thumbnailCount))),
            ("handedOver", .integer(Int64(handedCount))), ("gone", .boolean(isGone)),
            ("flaps", .integer(Int64(flapCount))), ("retryAfterMs", .optional(retryAfter)),
        ]
    }
}
