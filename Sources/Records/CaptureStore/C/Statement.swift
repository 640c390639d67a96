internal import Base
internal import CSQLite

/// A prepared statement: values go in by `bind`, in the order of its parameters; columns come out
/// by `integer`, `text` and `bytes`, in their order.
///
/// A value that cannot be bound is told by the next `run` or `next`.
@safe
final class Statement {
    private let pointer: OpaquePointer
    private let database: Database
    /// Values are copied here rather than into allocations of their own; the size of most rows.
    private var scratch: UnsafeMutableRawPointer?
    private var scratchUsed = 0
    private var parameter: Int32 = 0
    private var column: Int32 = 0
    /// The last short values by their columns: a method or a type comes again in row after row.
    private var shortValues: [[UInt8]] = []
    private var bindResult = SQLITE_OK

    init(owning pointer: OpaquePointer, of database: Database) {
        unsafe self.pointer = pointer
        self.database = database
    }

    deinit {
        unsafe sqlite3_finalize(pointer)
        unsafe scratch?.deallocate()
    }

    // MARK: Values in

    func bind(_ value: Int64) {
        note(unsafe sqlite3_bind_int64(pointer, nextParameter(), value))
    }

    func bind(_ value: Int64?) {
        guard let value else { return bindNull() }
        bind(value)
    }

    func bind(_ value: Int) { bind(Int64(value)) }

    func bind(_ value: Bool) { bind(value ? 1 : 0 as Int64) }

    func bindNull() {
        note(unsafe sqlite3_bind_null(pointer, nextParameter()))
    }

    func bind(_ text: String) {
        var text = text
        text.withUTF8 { unsafe bind(UnsafeRawBufferPointer($0), asText: true) }
    }

    func bind(_ text: String?) {
        guard let text else { return bindNull() }
        bind(text)
    }

    /// Binds text that is there as bytes.
    func bind(text bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe bind($0, asText: true) }
    }

    /// Binds bytes; none at all count as NULL.
    func bind(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return bindNull() }
        unsafe bytes.withUnsafeBytes { unsafe bind($0, asText: false) }
    }

    // MARK: Running

    /// Runs a statement that yields no row, and readies it for the next values.
    func run() throws(Failure) {
        let result = bindResult == SQLITE_OK ? unsafe sqlite3_step(pointer) : bindResult
        guard result == SQLITE_DONE || result == SQLITE_ROW else {
            let failure = database.failure(result)
            reset()
            throw failure
        }
        reset()
    }

    /// Binds `bytes` as the last value without a copy, and runs.
    func run(last bytes: [UInt8]) throws(Failure) {
        guard !bytes.isEmpty else {
            note(unsafe sqlite3_bind_zeroblob(pointer, nextParameter(), 0))
            return try run()
        }
        let outcome: Result<Void, Failure> = unsafe bytes.withUnsafeBytes { bytes in
            note(
                unsafe sqlite3_bind_blob64(
                    pointer, nextParameter(), bytes.baseAddress, UInt64(bytes.count),
                    sqlite_static()))
            return Result { () throws(Failure) in try run() }
        }
        try outcome.get()
    }

    /// Steps to the next row; false if there is none, and then the statement is ready again.
    func next() throws(Failure) -> Bool {
        column = 0
        let result = bindResult == SQLITE_OK ? unsafe sqlite3_step(pointer) : bindResult
        if result == SQLITE_ROW { return true }
        guard result == SQLITE_DONE else {
            let failure = database.failure(result)
            reset()
            throw failure
        }
        reset()
        return false
    }

    /// Readies the statement for new values; also to be called when rows are left unread.
    func reset() {
        unsafe sqlite3_reset(pointer)
        parameter = 0
        column = 0
        scratchUsed = 0
        bindResult = SQLITE_OK
    }

    // MARK: Rows out

    func integer() -> Int64 {
        unsafe sqlite3_column_int64(pointer, nextColumn())
    }

    /// A size or a count, within what one can be.
    func count() -> Int64 { RecordedNumber.bounded(integer()) }

    func optionalInteger() -> Int64? {
        isNull ? skip() : integer()
    }

    func boolean() -> Bool { integer() != 0 }

    /// The column's text; bytes that are no UTF-8 become U+FFFD.
    func text() -> String {
        let index = nextColumn()
        guard let start = unsafe sqlite3_column_blob(pointer, index) else { return "" }
        let count = Int(unsafe sqlite3_column_bytes(pointer, index))
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// What the column's word stands for.
    ///
    /// Errors: `capture-newer` for one that is not known.
    func word<Word>(of words: StoredWords<Word>) throws(Failure) -> Word {
        let bytes = bytes()
        guard let word = words[bytes] else {
            throw Failure.newer(database.path, "it holds the word \"\(bytes.text)\"")
        }
        return word
    }

    func optionalWord<Word>(of words: StoredWords<Word>) throws(Failure) -> Word? {
        isNull ? skip() : try word(of: words)
    }

    func optionalText() -> String? {
        isNull ? skip() : text()
    }

    /// The column's bytes, none for NULL.
    func bytes() -> [UInt8] {
        let index = nextColumn()
        guard let start = unsafe sqlite3_column_blob(pointer, index) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(pointer, index))
        let value = unsafe UnsafeRawBufferPointer(start: start, count: count)
        return unsafe count <= shortSize ? shortValue(value, Int(index)) : [UInt8](value)
    }

    func optionalBytes() -> [UInt8]? {
        isNull ? skip() : bytes()
    }

    /// Passes over columns that nobody asks for.
    func skip(count: Int32) { column += count }

    // MARK: Details

    private var isNull: Bool { unsafe sqlite3_column_type(pointer, column) == SQLITE_NULL }

    private func shortValue(_ value: UnsafeRawBufferPointer, _ index: Int) -> [UInt8] {
        while shortValues.count <= index { shortValues.append([]) }
        let isNew = unsafe shortValues[index].withUnsafeBytes { unsafe !$0.isSame(as: value) }
        if isNew { unsafe shortValues[index] = [UInt8](value) }
        return shortValues[index]
    }

    private func skip<Value>() -> Value? {
        column += 1
        return nil
    }

    private func nextColumn() -> Int32 {
        defer { column += 1 }
        return column
    }

    private func nextParameter() -> Int32 {
        parameter += 1
        return parameter
    }

    private func note(_ result: Int32) {
        if result != SQLITE_OK, bindResult == SQLITE_OK { bindResult = result }
    }

    private func bind(_ value: UnsafeRawBufferPointer, asText: Bool) {
        let index = nextParameter()
        var start: UnsafeRawPointer? = value.baseAddress
        var keep = unsafe sqlite_transient()
        if value.count <= scratchSize - scratchUsed {
            let base = unsafe scratch ?? .allocate(byteCount: scratchSize, alignment: 16)
            unsafe scratch = base
            let copy = unsafe base + scratchUsed
            unsafe UnsafeMutableRawBufferPointer(start: copy, count: value.count).copyMemory(
                from: value)
            unsafe start = UnsafeRawPointer(copy)
            unsafe keep = sqlite_static()
            scratchUsed += value.count
        }
        if asText {
            note(
                unsafe sqlite3_bind_text64(
                    pointer, index, start?.assumingMemoryBound(to: CChar.self),
                    UInt64(value.count), keep, UInt8(SQLITE_UTF8)))
        } else {
            note(unsafe sqlite3_bind_blob64(pointer, index, start, UInt64(value.count), keep))
        }
    }
}

/// In bytes.
private let scratchSize = 8192
/// The longest value that is held for later rows, in bytes.
private let shortSize = 64
