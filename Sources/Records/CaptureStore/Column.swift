internal import Base

/// One column of a table: how it is written from what is recorded, and how it is read into a row.
struct Column<Input, Row>: Sendable {
    let name: String
    let write: @Sendable (Input, Statement) -> Void
    let read: @Sendable (inout Row, Statement) throws(Failure) -> Void
    /// The version of the schema that it came with.
    private(set) var version: Int64 = 1
    /// What it counts as in a file of an earlier version, as SQL.
    private(set) var standard = "NULL"

    private init(
        _ name: String, write: @escaping @Sendable (Input, Statement) -> Void,
        read: @escaping @Sendable (inout Row, Statement) throws(Failure) -> Void
    ) {
        self.name = name
        self.write = write
        self.read = read
    }

    /// The same column, which came with a later version.
    func since(_ version: Int64, standard: String = "NULL") -> Self {
        var copy = self
        copy.version = version
        copy.standard = standard
        return copy
    }
}

extension Column {
    static func integer(
        _ name: String, _ value: @escaping @Sendable (Input) -> Int64,
        _ set: @escaping @Sendable (inout Row, Int64) -> Void
    ) -> Self {
        Column(name, write: { $1.bind(value($0)) }, read: { set(&$0, $1.integer()) })
    }

    /// A size or a count, within what one can be.
    static func count(
        _ name: String, _ value: @escaping @Sendable (Input) -> Int64,
        _ set: @escaping @Sendable (inout Row, Int64) -> Void
    ) -> Self {
        Column(name, write: { $1.bind(value($0)) }, read: { set(&$0, $1.count()) })
    }

    static func optionalInteger(
        _ name: String, _ value: @escaping @Sendable (Input) -> Int64?,
        _ set: @escaping @Sendable (inout Row, Int64?) -> Void
    ) -> Self {
        Column(name, write: { $1.bind(value($0)) }, read: { set(&$0, $1.optionalInteger()) })
    }

    static func boolean(
        _ name: String, _ value: @escaping @Sendable (Input) -> Bool,
        _ set: @escaping @Sendable (inout Row, Bool) -> Void
    ) -> Self {
        Column(name, write: { $1.bind(value($0)) }, read: { set(&$0, $1.boolean()) })
    }

    static func text(
        _ name: String, _ value: @escaping @Sendable (Input) -> String,
        _ set: @escaping @Sendable (inout Row, String) -> Void
    ) -> Self {
        Column(name, write: { $1.bind(value($0)) }, read: { set(&$0, $1.text()) })
    }

    static func optionalText(
        _ name: String, _ value: @escaping @Sendable (Input) -> String?,
        _ set: @escaping @Sendable (inout Row, String?) -> Void
    ) -> Self {
        Column(name, write: { $1.bind(value($0)) }, read: { set(&$0, $1.optionalText()) })
    }

    /// Text that is held as bytes.
    static func textBytes(
        _ name: String, _ value: @escaping @Sendable (Input) -> ArraySlice<UInt8>,
        _ set: @escaping @Sendable (inout Row, ArraySlice<UInt8>) -> Void
    ) -> Self {
        Column(
            name,
            write: { input, statement in
                let slice = value(input)
                statement.bind(text: slice.span)
            }, read: { set(&$0, $1.bytes()[...]) })
    }

    /// The same, or NULL.
    static func optionalTextBytes(
        _ name: String, _ value: @escaping @Sendable (Input) -> ArraySlice<UInt8>?,
        _ set: @escaping @Sendable (inout Row, ArraySlice<UInt8>?) -> Void
    ) -> Self {
        Column(
            name,
            write: { input, statement in
                guard let slice = value(input) else { return statement.bindNull() }
                statement.bind(text: slice.span)
            }, read: { set(&$0, $1.optionalBytes()?[...]) })
    }

    /// Bytes; none at all are NULL.
    static func bytes(
        _ name: String, _ value: @escaping @Sendable (Input) -> [UInt8],
        _ set: @escaping @Sendable (inout Row, [UInt8]) -> Void
    ) -> Self {
        Column(name, write: { $1.bind(value($0)) }, read: { set(&$0, $1.bytes()) })
    }

    /// One of the words that a version of the tool knows.
    ///
    /// Errors of reading: `capture-newer`.
    static func word<Word: StoredWord>(
        _ name: String, _ value: @escaping @Sendable (Input) -> Word,
        _ set: @escaping @Sendable (inout Row, Word) -> Void
    ) -> Self {
        let words = StoredWords<Word>()
        return Column(
            name, write: { $1.bind(value($0).rawValue) },
            read: { (row: inout Row, statement: Statement) throws(Failure) in
                set(&row, try statement.word(of: words))
            })
    }

    /// The same, or NULL.
    static func optionalWord<Word: StoredWord>(
        _ name: String, _ value: @escaping @Sendable (Input) -> Word?,
        _ set: @escaping @Sendable (inout Row, Word?) -> Void
    ) -> Self {
        let words = StoredWords<Word>()
        return Column(
            name, write: { $1.bind(value($0)?.rawValue) },
            read: { (row: inout Row, statement: Statement) throws(Failure) in
                set(&row, try statement.optionalWord(of: words))
            })
    }
}

/// A table of the file, from whose columns both writing and reading are made.
struct Table<Input, Row>: Sendable {
    let name: String
    /// In the order of the table. Iterated as a span: an iterator retains the closures of each.
    let columns: [Column<Input, Row>]

    /// Some of the columns.
    func only(_ isWanted: (String) -> Bool) -> Self {
        Table(name: name, columns: columns.filter { isWanted($0.name) })
    }

    /// The columns to read of a file of this version, with the standards of those that it lacks.
    func selection(in version: Int64) -> String {
        columns.map { $0.version <= version ? $0.name : $0.standard }.joined(separator: ",")
    }

    func write(_ input: Input, with statement: Statement) throws(Failure) {
        let columns = columns.span
        for index in columns.indices { columns[index].write(input, statement) }
        try statement.run()
    }

    func read(_ row: inout Row, from statement: Statement) throws(Failure) {
        let columns = columns.span
        for index in columns.indices { try columns[index].read(&row, statement) }
    }

    /// The SQL that writes a row, over an older one with the same key if there is one.
    ///
    /// - Parameters:
    ///   - keyCount: how many of the first columns are the key.
    ///   - kept: those columns that stay as they are where the later row has nothing.
    func upsert(keyCount: Int = 1, keeping kept: Set<String> = []) -> String {
        let names = columns.map(\.name)
        let updates = names.dropFirst(keyCount).map { column in
            guard kept.contains(column) else { return "\(column)=excluded.\(column)" }
            return "\(column)=coalesce(nullif(excluded.\(column),x''),\(column))"
        }
        return "INSERT INTO \(name)(\(names.joined(separator: ","))) "
            + "VALUES(\(names.map { _ in "?" }.joined(separator: ","))) "
            + "ON CONFLICT(\(names.prefix(keyCount).joined(separator: ","))) "
            + "DO UPDATE SET \(updates.joined(separator: ","))"
    }
}
