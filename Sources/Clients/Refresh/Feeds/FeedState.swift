/// What is remembered of a feed from one fetch to the next.
package struct FeedState: Sendable, Equatable {
    package let url: String
    /// As it came, to be sent back; preferred to the date.
    package var entityTag: String?
    package var lastModified: String?
    package var cursor: String?
    /// Digests of the identifiers of items, the newest last.
    package var known: [String] = []
    /// Whether the server has said that the feed is gone for good.
    package var isGone = false
    /// Not before this, in milliseconds since 1970.
    package var notBefore: Int64 = 0
    /// How often the validators changed and nothing else did.
    package var flapCount = 0
    /// How many items came twice in a document.
    package var duplicateCount = 0
    /// When it was last found to be as it is here, in milliseconds since 1970.
    package var currentAt: Int64 = 0

    package init(_ url: String) {
        self.url = url
    }

    /// In bytes, of a tag and of a cursor: a server that needs more does not want it back.
    static let markLimit = 1024
    /// How many items are known: a feed shows no more at once, and older ones do not come back.
    static let knownLimit = 2 * FeedDocument.entryLimit
}
