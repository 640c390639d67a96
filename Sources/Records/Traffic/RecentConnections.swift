/// The connections of exchanges that are read in their order: those of one connection come close
/// together, so a few are remembered, without their bulk.
package struct RecentConnections {
    private var records: [Int64: ConnectionRecord] = [:]

    package init() {}

    /// One connection, `nil` if there is none.
    ///
    /// Errors: those of the source.
    package mutating func record(
        _ id: Int64, in source: any TrafficSource
    ) throws -> ConnectionRecord? {
        if let known = records[id] { return known }
        if records.count >= Self.countLimit { records = [:] }
        let record = try source.connection(id)?.withoutBulk
        records[id] = record
        return record
    }

    /// Of about 2 KiB each.
    private static let countLimit = 256
}
