/// What help and the argument reader know of one parameter.
package struct ParameterDescription: Equatable {
    enum Kind: Equatable {
        case positional
        case option
        case flag
        /// Everything after `--`.
        case rest
    }

    let kind: Kind
    /// The long name without dashes; for a positional and the rest, the placeholder.
    package let name: String
    var short: Character?
    var placeholder = ""
    let summary: String
    var choices: [String] = []
    /// Whether its value is the path of a file or folder, for completion.
    package var isPath = false
    /// What holds unless the option is given, for help.
    var standard: String?
    var isRequired = false
    var isRepeated = false

    /// What an error about its value starts with.
    var label: String {
        switch kind {
        case .positional, .rest: name
        case .option, .flag: "--\(name)"
        }
    }

    /// As it is written in a usage line or an error.
    var title: String {
        switch kind {
        case .positional: name
        case .option: "--\(name) \(placeholder)"
        case .flag: "--\(name)"
        case .rest: "-- \(name)"
        }
    }
}

/// One parameter of a command, and where its value goes.
package struct Parameter<Arguments> {
    let description: ParameterDescription
    let apply: (inout Arguments, String) throws(UsageFailure) -> Void

    /// The long name without dashes; for a positional and the rest, the placeholder.
    package var name: String { description.name }

    /// The same parameter of arguments that hold these: how commands share a group of options.
    package func lifted<Outer>(to path: WritableKeyPath<Outer, Arguments>) -> Parameter<Outer> {
        Parameter<Outer>(description: description) { outer, text throws(UsageFailure) in
            try apply(&outer[keyPath: path], text)
        }
    }

    /// An argument that stands on its own, by its place.
    package static func positional<Value>(
        _ path: WritableKeyPath<Arguments, Value>, _ syntax: ValueSyntax<Value>, _ summary: String
    ) -> Parameter {
        let description = ParameterDescription(
            kind: .positional, name: syntax.placeholder, summary: summary,
            choices: syntax.choices, isPath: syntax.isPath, isRequired: true)
        return Parameter(description: description) { arguments, text throws(UsageFailure) in
            arguments[keyPath: path] = try syntax.read(text)
        }
    }

    /// An argument that stands on its own behind the others and may be left out; its property is
    /// `nil` then.
    package static func optional<Value>(
        _ path: WritableKeyPath<Arguments, Value?>, _ syntax: ValueSyntax<Value>, _ summary: String
    ) -> Parameter {
        let description = ParameterDescription(
            kind: .positional, name: syntax.placeholder, summary: summary, choices: syntax.choices,
            isPath: syntax.isPath)
        return Parameter(description: description) { arguments, text throws(UsageFailure) in
            arguments[keyPath: path] = try syntax.read(text)
        }
    }

    /// One argument or more that stand on their own, behind all others.
    package static func list<Value>(
        _ path: WritableKeyPath<Arguments, [Value]>, _ syntax: ValueSyntax<Value>,
        _ summary: String
    ) -> Parameter {
        let description = ParameterDescription(
            kind: .positional, name: syntax.placeholder, summary: summary,
            choices: syntax.choices, isPath: syntax.isPath, isRequired: true, isRepeated: true)
        return Parameter(description: description) { arguments, text throws(UsageFailure) in
            arguments[keyPath: path].append(try syntax.read(text))
        }
    }

    /// An option with a value: `--name VALUE` or `--name=VALUE`.
    package static func option<Value>(
        _ name: String, short: Character? = nil, _ path: WritableKeyPath<Arguments, Value>,
        _ syntax: ValueSyntax<Value>, standard: String? = nil, _ summary: String
    ) -> Parameter {
        let description = ParameterDescription(
            kind: .option, name: name, short: short, placeholder: syntax.placeholder,
            summary: summary, choices: syntax.choices, isPath: syntax.isPath, standard: standard)
        return Parameter(description: description) { arguments, text throws(UsageFailure) in
            arguments[keyPath: path] = try syntax.read(text)
        }
    }

    /// An option whose property is `nil` unless it is given.
    package static func option<Value>(
        _ name: String, short: Character? = nil, _ path: WritableKeyPath<Arguments, Value?>,
        _ syntax: ValueSyntax<Value>, standard: String? = nil, _ summary: String
    ) -> Parameter {
        let description = ParameterDescription(
            kind: .option, name: name, short: short, placeholder: syntax.placeholder,
            summary: summary, choices: syntax.choices, isPath: syntax.isPath, standard: standard)
        return Parameter(description: description) { arguments, text throws(UsageFailure) in
            arguments[keyPath: path] = try syntax.read(text)
        }
    }

    /// An option that may be given several times; the values are in their order.
    package static func repeated<Value>(
        _ name: String, _ path: WritableKeyPath<Arguments, [Value]>, _ syntax: ValueSyntax<Value>,
        _ summary: String
    ) -> Parameter {
        let description = ParameterDescription(
            kind: .option, name: name, placeholder: syntax.placeholder, summary: summary,
            choices: syntax.choices, isPath: syntax.isPath, isRepeated: true)
        return Parameter(description: description) { arguments, text throws(UsageFailure) in
            arguments[keyPath: path].append(try syntax.read(text))
        }
    }

    /// An option that is on when it is given.
    package static func flag(
        _ name: String, short: Character? = nil, _ path: WritableKeyPath<Arguments, Bool>,
        _ summary: String
    ) -> Parameter {
        let description = ParameterDescription(
            kind: .flag, name: name, short: short, summary: summary)
        return Parameter(description: description) { arguments, _ throws(UsageFailure) in
            arguments[keyPath: path] = true
        }
    }

    /// All arguments after `--`, unread; at least one is needed if it is required.
    package static func rest(
        _ placeholder: String, _ path: WritableKeyPath<Arguments, [String]>,
        isRequired: Bool = true, _ summary: String
    ) -> Parameter {
        let description = ParameterDescription(
            kind: .rest, name: placeholder, summary: summary, isRequired: isRequired,
            isRepeated: true)
        return Parameter(description: description) { arguments, text throws(UsageFailure) in
            arguments[keyPath: path].append(text)
        }
    }
}
