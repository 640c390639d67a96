/// The connections of exchanges that are read in their order: those of one connection come close
/// together, so a few are remembered, without their bulk.
package struct RecentConnections {
    /// Those that were asked for since `older` was put aside.
    private var newer: [Int64: ConnectionRecord] = [:]
    private var older: [Int64: ConnectionRecord] = [:]

    package init() {}

    /// One connection, `nil` if there is none.
    ///
    /// Errors: those of the source.
    package mutating func record(
        _ id: Int64, in source: any TrafficSource
    ) throws -> ConnectionRecord? {
        if let known = newer[id] { return known }
        let record = try older[id] ?? source.connection(id)?.withoutBulk
        if newer.count >= Self.countLimit { (older, newer) = (newer, [:]) }
        newer[id] = record
        return record
    }

    /// Of each; of about 2 KiB a connection.
    private static let countLimit = 512
}
