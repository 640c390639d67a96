package import Base

/// Options that hold without being typed: `name = value` lines, below the `[command]` that they are
/// for, or above all of them for every command that has such an option.
package struct ConfigurationFile: Sendable {
    /// As errors name it.
    package let path: String
    /// Whether it comes with a project, which may be anybody's.
    package let isOfProject: Bool
    private let settings: [Setting]

    private struct Setting {
        /// Such as `flows list`; `nil` for every command.
        let command: String?
        let name: String
        /// `nil` for a name alone, as flags are written.
        let value: String?
        let line: Int
    }

    /// Reads lines; what the names mean is not looked at.
    ///
    /// Errors: `configuration-invalid`, with the line.
    package init(_ bytes: [UInt8], path: String, isOfProject: Bool) throws(Failure) {
        self.path = path
        self.isOfProject = isOfProject
        do throws(SettingLines.Violation) {
            settings = try SettingLines(bytes).sections.flatMap { section in
                section.settings.map { setting in
                    Setting(
                        command: section.name, name: setting.name, value: setting.value,
                        line: setting.place.line)
                }
            }
        } catch {
            throw Failure(
                "configuration-invalid", party: .tool,
                "\(path):\(error.place.line): expected 'option = value' or '[command]'",
                hint: Self.help)
        }
    }

    /// Refuses what no command has, and what a project must not decide.
    ///
    /// - Parameter shared: the names of the options that a project may set.
    package func check(
        against root: Command<some Any>, shared: Set<String>
    ) throws(UsageFailure) {
        let commands = Self.commands(below: root, named: [])
        for setting in settings {
            let place = "\(path):\(setting.line)"
            if let command = setting.command, commands[command] == nil {
                let nearest = NearestName.find(command, among: commands.keys.sorted())
                throw UsageFailure(
                    "\(place): there is no command '\(command)'",
                    hint: nearest.map { "did you mean [\($0)]?" } ?? Self.help)
            }
            let parameters =
                setting.command.map { commands[$0] ?? [] } ?? commands.values.flatMap(\.self)
            let names = parameters.filter(\.isNamed).map(\.name)
            guard names.contains(setting.name) else {
                let nearest = NearestName.find(setting.name, among: names)
                throw UsageFailure(
                    "\(place): there is no option '\(setting.name)'",
                    hint: nearest.map { "did you mean '\($0)'?" } ?? Self.help)
            }
            if isOfProject, !shared.contains(setting.name) {
                throw UsageFailure(
                    "\(place): '\(setting.name)' may not be set by a project, only by you",
                    hint: "type it, or set it in a file of your own: see '\(Self.helpCommand)'")
            }
        }
    }

    /// What holds for a command, in the order of its lines.
    ///
    /// - Parameter decided: the parameters that count from elsewhere, but for those that may be
    ///   given several times; those that this file decides are added.
    package func values(
        for command: String, _ parameters: [ParameterDescription], besides decided: inout Set<Int>
    ) throws(UsageFailure) -> [ArgumentValue] {
        var values: [ArgumentValue] = []
        var found: Set<Int> = []
        for setting in settings where setting.command ?? command == command {
            guard
                let index = parameters.firstIndex(where: { $0.isNamed && $0.name == setting.name }),
                parameters[index].isRepeated || !decided.contains(index)
            else { continue }
            let place = "\(path):\(setting.line)"
            // The last line counts: that for a command stands below that for all.
            if !parameters[index].isRepeated { values.removeAll { $0.parameter == index } }
            found.insert(index)
            if let text = try text(of: setting, for: parameters[index], at: place) {
                values.append(.init(parameter: index, text: text, place: place))
            }
        }
        decided.formUnion(found)
        return values
    }

    /// The value as it would be typed; `nil` for a flag that is off.
    private func text(
        of setting: Setting, for parameter: ParameterDescription, at place: String
    ) throws(UsageFailure) -> String? {
        guard parameter.kind == .flag else {
            guard let value = setting.value else {
                throw UsageFailure("\(place): '\(setting.name)' needs a value")
            }
            if isOfProject, parameter.isPath, !Self.isInside(value) {
                throw UsageFailure(
                    "\(place): '\(setting.name)' has to be a path inside the project's folder")
            }
            return value
        }
        switch setting.value {
        case nil, "yes", "true": return ""
        case "no", "false": return nil
        default:
            throw UsageFailure("\(place): '\(setting.name)' is yes or no")
        }
    }

    /// Whether a path cannot lead out of the current folder, but for links.
    package static func isInside(_ path: String) -> Bool {
        let steps = path.split(separator: "/", omittingEmptySubsequences: false)
        return !path.hasPrefix("/") && !steps.contains("..")
    }

    private static func commands(
        below command: Command<some Any>, named path: [String]
    ) -> [String: [ParameterDescription]] {
        var all: [String: [ParameterDescription]] = [:]
        for command in command.subcommands {
            let path = path + [command.name]
            if command.invoke != nil { all[path.joined(separator: " ")] = command.parameters }
            all.merge(commands(below: command, named: path)) { $1 }
        }
        return all
    }

    private static let helpCommand = "sallyport help configuration"
    private static let help = "see '\(helpCommand)'"
}
