internal import Base

/// The text that was given for a parameter of a command, which is named by its place.
package struct ArgumentValue: Equatable {
    package let parameter: Int
    package let text: String
    /// The line of a file that gave it, such as `sallyport.conf:3`; `nil` if it was typed.
    package var place: String?
}

/// Sorts the arguments of one command by its parameters; what their values mean is not its concern.
struct ArgumentReader {
    enum Outcome: Equatable {
        case values([ArgumentValue])
        /// Help was asked for.
        case help
    }

    /// Such as `flows list`, for errors.
    private let commandPath: String
    private let parameters: [ParameterDescription]
    private var waiting: ArraySlice<String> = []
    private var values: [ArgumentValue] = []

    static func read(
        _ arguments: ArraySlice<String>, for parameters: [ParameterDescription],
        of commandPath: String
    ) throws(UsageFailure) -> Outcome {
        var reader = ArgumentReader(commandPath: commandPath, parameters: parameters)
        reader.waiting = arguments
        return try reader.readAll()
    }

    private init(commandPath: String, parameters: [ParameterDescription]) {
        self.commandPath = commandPath
        self.parameters = parameters
    }

    private mutating func readAll() throws(UsageFailure) -> Outcome {
        while let argument = waiting.popFirst() {
            if argument == "--" {
                try readRest()
            } else if argument == "--help" || argument == "-h" {
                return .help
            } else if argument.hasPrefix("--") {
                try readLong(argument)
            } else if argument.hasPrefix("-"), argument.count > 1 {
                try readShort(argument)
            } else {
                try readPositional(argument)
            }
        }
        for index in parameters.indices where parameters[index].isRequired && !isGiven(index) {
            throw UsageFailure(
                "'\(commandPath)' needs \(parameters[index].title)", hint: helpHint)
        }
        return .values(values)
    }

    private mutating func readRest() throws(UsageFailure) {
        guard let rest = parameters.firstIndex(where: { $0.kind == .rest }) else {
            while let argument = waiting.popFirst() { try readPositional(argument) }
            return
        }
        values += waiting.map { ArgumentValue(parameter: rest, text: $0) }
        waiting = []
    }

    private mutating func readLong(_ argument: String) throws(UsageFailure) {
        let parts = argument.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map(String.init) ?? ""
        let attached = parts.count == 2 ? String(parts[1]) : nil
        guard let index = parameters.firstIndex(where: { $0.isNamed && $0.name == name }) else {
            throw unknownOption("--\(name)", name: name)
        }
        try readNamed(index, as: "--\(name)", attached: attached)
    }

    private mutating func readShort(_ argument: String) throws(UsageFailure) {
        let name = argument.dropFirst()
        guard let index = parameters.firstIndex(where: { $0.short == name.first }),
            name.count == 1 || parameters[index].kind == .option
        else {
            throw unknownOption(argument, name: String(name))
        }
        // A value may stand right behind the letter, such as `-j2`.
        let value = name.count == 1 ? nil : String(name.dropFirst())
        try readNamed(index, as: String(argument.prefix(2)), attached: value)
    }

    private mutating func readNamed(
        _ index: Int, as written: String, attached: String?
    ) throws(UsageFailure) {
        let parameter = parameters[index]
        if isGiven(index), !parameter.isRepeated {
            throw UsageFailure("option '\(written)' is given twice")
        }
        guard parameter.kind == .option else {
            guard attached == nil else {
                throw UsageFailure("option '\(written)' takes no value")
            }
            values.append(ArgumentValue(parameter: index, text: ""))
            return
        }
        if let attached {
            values.append(ArgumentValue(parameter: index, text: attached))
        } else if let next = waiting.first, !next.hasPrefix("--") {
            waiting.removeFirst()
            values.append(ArgumentValue(parameter: index, text: next))
        } else {
            let hint = waiting.isEmpty ? nil : "a value that starts with -- is written --NAME=VALUE"
            throw UsageFailure(
                "option '\(written)' needs a value: \(parameter.title)", hint: hint)
        }
    }

    private mutating func readPositional(_ argument: String) throws(UsageFailure) {
        let next = parameters.indices.first { index in
            parameters[index].kind == .positional
                && (parameters[index].isRepeated || !isGiven(index))
        }
        guard let next else {
            let takesRest = parameters.contains { $0.kind == .rest }
            throw UsageFailure(
                "unexpected argument '\(argument)' for '\(commandPath)'",
                hint: takesRest ? "put -- before the command to run" : helpHint)
        }
        values.append(ArgumentValue(parameter: next, text: argument))
    }

    private func isGiven(_ index: Int) -> Bool {
        values.contains { $0.parameter == index }
    }

    private func unknownOption(_ written: String, name: String) -> UsageFailure {
        let names = parameters.filter(\.isNamed).map(\.name) + ["help"]
        let meant = Self.otherNames[name].flatMap { names.contains($0) ? $0 : nil }
        let nearest = meant ?? NearestName.find(name, among: names)
        return UsageFailure(
            "unknown option '\(written)' for '\(commandPath)'",
            hint: nearest.map { "did you mean '--\($0)'?" } ?? helpHint)
    }

    /// What other tools call options of ours.
    private static let otherNames = [
        "port": "listen", "p": "listen", "bind": "listen", "host": "listen", "o": "output",
        "out": "output", "w": "capture", "insecure": "insecure-origin",
    ]

    private var helpHint: String { "see 'sallyport \(commandPath) --help'" }
}

extension ParameterDescription {
    /// Whether it is written with its name.
    package var isNamed: Bool { kind == .option || kind == .flag }
}
