internal import Base
internal import Fuzzing

/// What Scripts/fuzz calls, once for each reader.
enum FuzzCommand {
    private struct Options {
        var reader: FuzzedReader?
        var input: String?
        var folder: String?
        var executions: UInt64 = 100_000
        var seconds: UInt64 = 0
        var seed: UInt64 = 1
    }

    static func run(_ arguments: [String]) -> Int32 {
        if arguments == ["--list"] {
            for reader in FuzzedReader.all { print(reader.name) }
            return 0
        }
        do {
            let options = try read(arguments)
            guard let reader = options.reader else {
                throw Failure("usage", party: .tool, "no --reader is named")
            }
            if let input = options.input { return try show(reader, input) }
            guard let folder = options.folder else {
                throw Failure("usage", party: .tool, "neither --input nor --folder is named")
            }
            return try fuzz(reader, folder, options)
        } catch {
            print("error: \(error)")
            return 4
        }
    }

    private static func read(_ arguments: [String]) throws -> Options {
        var options = Options()
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else {
                throw Failure("usage", party: .tool, "\(name) has no value")
            }
            switch name {
            case "--reader": options.reader = FuzzedReader.all.first { $0.name == value }
            case "--input": options.input = value
            case "--folder": options.folder = value
            case "--executions": options.executions = UInt64(value) ?? options.executions
            case "--seconds": options.seconds = UInt64(value) ?? 0
            case "--seed": options.seed = UInt64(value) ?? 1
            default: throw Failure("usage", party: .tool, "there is no option \(name)")
            }
        }
        return options
    }

    /// Runs one input and tells what was made of it, whole.
    private static func show(_ reader: FuzzedReader, _ path: String) throws -> Int32 {
        let bytes = try Files.read(path)
        Execution.run(reader, bytes, isThorough: true)
        let lines = reader.transcript(bytes, .whole, isKept: true).lines ?? []
        for line in lines { print(line) }
        return 0
    }

    /// - Parameter folder: where seeds are put, and the input that is run.
    private static func fuzz(
        _ reader: FuzzedReader, _ folder: String, _ options: Options
    ) throws -> Int32 {
        // A seed that breaks a rule is to be seen before anything is changed.
        for seed in reader.seeds() { Execution.run(reader, seed, isThorough: true) }
        #if GUIDED
            return try GuidedRun.run(
                reader, folder: folder, executions: options.executions, seconds: options.seconds,
                seed: options.seed)
        #else
            let run = try BlindRun(reader, folder: folder, seed: options.seed)
            run.run(executions: options.executions, seconds: options.seconds)
            return 0
        #endif
    }
}
