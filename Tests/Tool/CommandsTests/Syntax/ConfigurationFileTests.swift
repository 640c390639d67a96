import Base
import CommandSyntax
import Testing

@testable import Commands

/// What files say of options that were not typed; seen in what `flows list` prints.
@Suite struct ConfigurationFileTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var typed: [String] = []
        var project: String?
        var own: String?
        /// What the first line of the output begins with.
        var output = ""
        var diagnostics = ""
        var code: Int32 = 0
    }

    static let note = "sallyport: note: sallyport.conf sets"

    static let rows: [Row] = [
        Row(testDescription: "nothing", output: "id  time"),
        Row(
            testDescription: "of the project", project: "[flows list]\ncolumns = method,status",
            output: "method  status", diagnostics: "\(note) columns = method,status\n"),
        Row(
            testDescription: "of the user, without a word", own: "[flows list]\ncolumns=method",
            output: "method"),
        Row(
            testDescription: "comments, empty lines, white space, line ends of other systems",
            own: "# mine\r\n\r\n  [flows list]  \r\n\tcolumns =  method \r\n", output: "method"),
        Row(
            testDescription: "for every command that has it", own: "columns = method\n",
            output: "method"),
        Row(
            testDescription: "the command's line before that for all",
            own: "columns = status\n[flows list]\ncolumns = method", output: "method"),
        Row(
            testDescription: "another command's line",
            own: "[connections]\ncolumns = nonsense", output: "id  time"),
        Row(
            testDescription: "what is typed before the project's",
            typed: ["--columns", "status"], project: "columns = method", output: "status"),
        Row(
            testDescription: "the project's before the user's", project: "columns = method",
            own: "columns = status", output: "method", diagnostics: "\(note) columns = method\n"),
        Row(testDescription: "a flag", own: "json", output: #"{"schema":"#),
        Row(testDescription: "a flag that is on", own: "json = yes", output: #"{"schema":"#),
        Row(testDescription: "a flag that is off", own: "json = no", output: "id  time"),
        Row(
            testDescription: "a flag that is off for this command",
            own: "json = yes\n[flows list]\njson = no", output: "id  time"),
        Row(
            testDescription: "a flag that is neither", own: "json = maybe",
            diagnostics: "config:1: 'json' is yes or no", code: 2),
        Row(
            testDescription: "a value that makes no sense", own: "\nlimit = many",
            diagnostics: "config:2: --limit: ", code: 2),
        Row(
            testDescription: "no value", own: "limit",
            diagnostics: "config:1: 'limit' needs a value", code: 2),
        Row(
            testDescription: "no option's name", own: "[flows list]\nlimt = 3",
            diagnostics:
                "config:2: there is no option 'limt'\nsallyport: hint: did you mean 'limit'?",
            code: 2),
        Row(
            testDescription: "no such option of this command", own: "[flows list]\nlisten = x",
            diagnostics: "config:2: there is no option 'listen'", code: 2),
        Row(
            testDescription: "no command", own: "[flows lst]\nlimit = 3",
            diagnostics: "config:2: there is no command 'flows lst'", code: 2),
        Row(
            testDescription: "a project that shows secrets", project: "with-secrets = yes",
            diagnostics: "sallyport.conf:1: 'with-secrets' may not be set by a project", code: 2),
        Row(
            testDescription: "a project that leads traffic elsewhere",
            project: "[proxy]\nupstream = http://192.0.2.1:3128",
            diagnostics: "sallyport.conf:2: 'upstream' may not be set by a project", code: 2),
        Row(
            testDescription: "a project that trusts more", project: "insecure-origin",
            diagnostics: "sallyport.conf:1: 'insecure-origin' may not be set by a project", code: 2),
    ]

    @Test(arguments: rows) func counts(_ row: Row) async throws {
        var run = CommandRun(arguments: ["flows", "list", "session.sallyport"] + row.typed)
        run.configuration = try [(row.project, "sallyport.conf"), (row.own, "config")].compactMap {
            text, path in
            try text.map {
                try ConfigurationFile(
                    Array($0.utf8), path: path, isOfProject: path == "sallyport.conf")
            }
        }
        let result = await run.run()
        #expect(result.code == row.code)
        #expect(result.output.text.hasPrefix(row.output), "\(result.output.text.prefix(80))")
        if row.code == 0 {
            #expect(result.diagnostics.text == row.diagnostics)
        } else {
            #expect(result.diagnostics.text.hasPrefix("sallyport: error: \(row.diagnostics)"))
        }
    }

    @Test(arguments: ["/etc/passwd", "../elsewhere", "a/../../b"])
    func aProjectsPathsStayInside(path: String) async throws {
        var run = CommandRun(arguments: ["check", "session.sallyport"])
        run.configuration = [
            try ConfigurationFile(
                Array("profile = \(path)".utf8), path: "sallyport.conf", isOfProject: true)
        ]
        let result = await run.run()
        #expect(result.code == 2)
        #expect(result.diagnostics.text.contains("has to be a path inside the project's folder"))
    }

    @Test(arguments: ["two words = 3", "= 3", "[open"])
    func refusesOtherLines(line: String) {
        #expect(throws: Failure.self) {
            try ConfigurationFile(Array(line.utf8), path: "config", isOfProject: false)
        }
    }
}
