internal import Base

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Feeds a reader with blindly changed seeds.
@safe
package final class BlindRun {
    private let reader: FuzzedReader
    private var mutator: Mutator
    private let corpus: [[UInt8]]
    /// The input that is run, in a file that outlives the process; its length stands first.
    private let record: UnsafeMutableRawPointer
    private let recordSize: Int

    /// - Parameter folder: gets the file `current`.
    package init(_ reader: FuzzedReader, folder: String, seed: UInt64) throws {
        self.reader = reader
        corpus = reader.seeds()
        mutator = Mutator(seed: seed, words: reader.words, lengthLimit: reader.lengthLimit)
        recordSize = 8 + reader.lengthLimit
        let path = "\(folder)/current"
        let file = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC, 0o644)
        guard file >= 0, ftruncate(file, recordSize) == 0,
            let mapped = unsafe mmap(
                nil, recordSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
            unsafe mapped != MAP_FAILED
        else { throw Failure("file-unwritable", party: .tool, "cannot write \(path)") }
        close(file)
        unsafe record = mapped
    }

    deinit { unsafe munmap(record, recordSize) }

    /// - Parameter seconds: 0 for no limit.
    package func run(executions: UInt64, seconds: UInt64) {
        let start = MonotonicTime.now().nanoseconds
        var count: UInt64 = 0
        while count < executions {
            let bytes = mutator.next(of: corpus)
            unsafe record.storeBytes(of: UInt64(bytes.count).littleEndian, as: UInt64.self)
            unsafe bytes.withUnsafeBytes { source in
                unsafe (record + 8).copyMemory(
                    from: source.baseAddress ?? UnsafeRawPointer(record), byteCount: source.count)
            }
            Execution.run(reader, bytes)
            count += 1
            guard count & 63 == 0, seconds > 0 else { continue }
            if (MonotonicTime.now().nanoseconds - start) / 1_000_000_000 >= seconds { break }
        }
        print("stat::number_of_executed_units: \(count)")
    }
}
