/// A command as a value: what it is called, what it takes and what it does.
struct Command {
    /// A command line to copy, and what it shows.
    struct Example: Equatable {
        let purpose: String
        let line: String
    }

    let name: String
    /// One line for the list of commands: lower case, no full stop.
    let summary: String
    let examples: [Example]
    /// Paragraphs of help.
    let details: [String]
    let parameters: [ParameterDescription]
    let subcommands: [Command]
    /// Applies the values that were read, by the place of their parameter, and runs; `nil` for a
    /// command that only has sub-commands.
    let invoke: (([ArgumentReader.Value], Environment) async throws -> ExitCode)?

    /// A command that does something, and may hold others besides.
    ///
    /// - Parameter arguments: what holds before an argument is read.
    init<Arguments>(
        _ name: String, _ summary: String, examples: [Example], details: [String] = [],
        arguments initial: Arguments, parameters: [Parameter<Arguments>],
        subcommands: [Command] = [],
        run: @escaping (Arguments, Environment) async throws -> ExitCode
    ) {
        self.name = name
        self.summary = summary
        self.examples = examples
        self.details = details
        self.parameters = parameters.map(\.description)
        self.subcommands = subcommands
        invoke = { values, environment in
            var arguments = initial
            for value in values {
                let parameter = parameters[value.parameter]
                do throws(UsageFailure) {
                    try parameter.apply(&arguments, value.text)
                } catch {
                    let place = value.place.map { "\($0): " } ?? ""
                    throw UsageFailure(
                        "\(place)\(parameter.description.label): \(error.message)",
                        hint: error.hint, excerpt: error.excerpt)
                }
            }
            return try await run(arguments, environment)
        }
    }

    /// A command that holds others.
    init(
        _ name: String, _ summary: String, examples: [Example], details: [String] = [],
        subcommands: [Command]
    ) {
        self.name = name
        self.summary = summary
        self.examples = examples
        self.details = details
        self.subcommands = subcommands
        parameters = []
        invoke = nil
    }
}
