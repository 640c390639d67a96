/// A command line to copy, and what it shows.
package struct CommandExample: Equatable {
    let purpose: String
    let line: String

    package init(purpose: String, line: String) {
        self.purpose = purpose
        self.line = line
    }
}

/// A command as a value: what it is called, what it takes and what it does to a `World`.
package struct Command<World> {
    package typealias Example = CommandExample

    package let name: String
    /// One line for the list of commands: lower case, no full stop.
    let summary: String
    let examples: [Example]
    /// Paragraphs of help.
    let details: [String]
    package let parameters: [ParameterDescription]
    let subcommands: [Command]
    /// Applies the values that were read, by the place of their parameter, and runs; `nil` for a
    /// command that only has sub-commands.
    package let invoke: (([ArgumentValue], World) async throws -> ExitCode)?

    /// A command that does something, and may hold others besides.
    ///
    /// - Parameter arguments: what holds before an argument is read.
    package init<Arguments>(
        _ name: String, _ summary: String, examples: [Example], details: [String] = [],
        arguments initial: Arguments, parameters: [Parameter<Arguments>],
        subcommands: [Command] = [],
        run: @escaping (Arguments, World) async throws -> ExitCode
    ) {
        self.name = name
        self.summary = summary
        self.examples = examples
        self.details = details
        self.parameters = parameters.map(\.description)
        self.subcommands = subcommands
        invoke = { values, world in
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
            return try await run(arguments, world)
        }
    }

    /// A command that holds others.
    package init(
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
