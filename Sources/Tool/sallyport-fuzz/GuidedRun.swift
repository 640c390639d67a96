#if GUIDED
    internal import Base
    internal import Fuzzing
    internal import Glibc

    /// Runs libFuzzer, which comes with the toolchain: it keeps each input that reaches code which
    /// none has reached before, and changes those.
    enum GuidedRun {
        /// The reader whose turn it is; libFuzzer's callback has no argument for it.
        nonisolated(unsafe) private static var reader: FuzzedReader?
        /// Of executions.
        nonisolated(unsafe) private static var count = 0

        static func run(
            _ reader: FuzzedReader, folder: String, executions: UInt64, seconds: UInt64,
            seed: UInt64
        ) throws -> Int32 {
            unsafe self.reader = reader
            let corpus = "\(folder)/corpus"
            try Files.makeFolder(corpus)
            for (index, seed) in reader.seeds().enumerated() {
                try Files.replace("\(corpus)/seed-\(index)", seed)
            }
            let words = reader.words.map { word in
                "\"" + word.utf8.map { "\\x" + [$0].hex }.joined() + "\"\n"
            }
            try Files.replace("\(folder)/words", Array(words.joined().utf8))
            // An empty dictionary is an error to it.
            let dictionary = words.isEmpty ? [] : ["-dict=\(folder)/words"]
            // It reads its numbers as 32 bits: what is larger may be none.
            let runs = min(executions, UInt64(Int32.max))
            // The seeds have run.
            TouchedCounters.tell(isLate: true)
            return drive(
                [
                    "sallyport-fuzz", corpus, "-runs=\(runs)", "-seed=\(seed & 0xFFFF_FFFF)",
                    "-max_total_time=\(seconds)", "-max_len=\(reader.lengthLimit)",
                    "-artifact_prefix=\(folder)/", "-timeout=60", "-rss_limit_mb=1024",
                    "-print_final_stats=1", "-verbosity=1", "-detect_leaks=0",
                ] + dictionary)
        }

        private static func drive(_ arguments: [String]) -> Int32 {
            var count = Int32(arguments.count)
            var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
            return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
                var vector = buffer.baseAddress
                return unsafe runDriver(&count, &vector) { bytes, size in
                    guard let reader = unsafe GuidedRun.reader else { return 0 }
                    let input = unsafe UnsafeBufferPointer(start: bytes, count: size)
                    unsafe Execution.run(reader, Array(input))
                    unsafe GuidedRun.count += 1
                    // Early executions meet most of the code that there is to meet.
                    let isEarly = unsafe GuidedRun.count < 1024
                    if unsafe isEarly || GuidedRun.count % 256 == 0 {
                        TouchedCounters.tell(isLate: !isEarly)
                    }
                    return 0
                }
            }
        }
    }

    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ count: UnsafeMutablePointer<Int32>,
        _ arguments: UnsafeMutablePointer<
            UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        >,
        _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
    ) -> Int32
#endif
