internal import Base
package import Refresh
internal import Runs
package import Terminal

/// The columns of a list of what was fetched.
package enum KeptItemTable {
    package static let columns: [Listing<KeptItem>.Column] = [
        .init("published", rank: 1) { item in
            let date = item.date.map { Timestamp(microseconds: $0 * 1000) }
            return TableWriter.Cell(date.map { String($0.rfc3339.prefix(16)) + "Z" } ?? "", .faint)
        },
        .init("title", isFlexible: true) { TableWriter.Cell($0.title.isEmpty ? $0.id : $0.title) },
        .init("pictures", isRight: true, rank: 3) {
            TableWriter.Cell(number: Int64($0.thumbnails.count))
        },
        .init("files", isRight: true, rank: 2) { TableWriter.Cell(number: Int64($0.assets.count)) },
        .init("feed") { TableWriter.Cell($0.shownFeed) },
    ]
}
