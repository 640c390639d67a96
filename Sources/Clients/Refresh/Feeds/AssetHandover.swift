package import Base

/// Takes whole files over from a fetch: a wake is too short for them.
package protocol AssetHandover: AnyObject {
    /// Promises that the file is fetched, now or later. It returns when that is written down.
    func take(_ asset: HandedAsset) async throws(Failure)
}

/// A file to be fetched by a transfer.
package struct HandedAsset: Sendable, Equatable {
    package let url: String
    /// What it is called where it lands: no path, and the same for the same URL.
    package let name: String
    /// In bytes, as the feed has it; `nil` if it says nothing.
    package let size: Int64?
    /// Whether it may wait for power and for a network without costs. What a wake hands over always
    /// may: only a user who waits is in a hurry.
    package let isDiscretionary: Bool

    package init(url: String, name: String, size: Int64?, isDiscretionary: Bool) {
        self.url = url
        self.name = name
        self.size = size
        self.isDiscretionary = isDiscretionary
    }
}
