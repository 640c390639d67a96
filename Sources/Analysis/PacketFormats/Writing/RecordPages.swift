/// Records of a source one by one, read a page at a time.
struct RecordPages<Record> {
    private var page: [Record] = []
    private var position = 0
    private var nextID = Int64.min
    private var isAtEnd = false
    private let id: (Record) -> Int64
    private let read: (Int64, (Record) throws -> Bool) throws -> Void

    /// Records: with chains and heads a few KB each.
    private static var pageSize: Int { 64 }

    init(
        id: @escaping (Record) -> Int64,
        read: @escaping (Int64, (Record) throws -> Bool) throws -> Void
    ) {
        self.id = id
        self.read = read
    }

    /// The one that `next` will return.
    mutating func first() throws -> Record? {
        if position == page.count, !isAtEnd { try fill() }
        return position < page.count ? page[position] : nil
    }

    mutating func next() throws -> Record? {
        guard let record = try first() else { return nil }
        position += 1
        return record
    }

    private mutating func fill() throws {
        page.removeAll(keepingCapacity: true)
        position = 0
        var found: [Record] = []
        try read(nextID) { record in
            found.append(record)
            return found.count < Self.pageSize
        }
        page = found
        // Behind the highest number that there is, nothing follows.
        isAtEnd = found.count < Self.pageSize || found.last.map(id) == .max
        if let last = found.last { nextID = id(last) &+ 1 }
    }
}
