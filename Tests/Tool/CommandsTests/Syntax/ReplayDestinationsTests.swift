import CommandSyntax
import HTTPClient
import Origins
import Replay
import Testing

@testable import Commands
@testable import Runs

struct ReplayDestinationsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var arguments: [String] = []
        var request = "GET https://api.example"
        let goes: String?
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "where it was recorded", goes: "https://api.example"),
        Row(name: "a change", request: "POST https://api.example", goes: nil),
        Row(
            name: "a change that is allowed", arguments: ["--allow", "api.example"],
            request: "POST https://api.example:8443", goes: "https://api.example:8443"),
        Row(
            name: "any change", arguments: ["--unsafe"], request: "DELETE http://[::1]:81",
            goes: "http://[::1]:81"),
        Row(
            name: "to one", arguments: ["--to", "http://localhost:8080/"],
            request: "POST https://api.example", goes: "http://localhost:8080"),
        Row(
            name: "another host to one", arguments: ["--to", "other.example=http://localhost"],
            request: "POST https://api.example", goes: nil),
        Row(
            name: "this host to one", arguments: ["--to", "api.example=http://[::1]:1"],
            request: "POST https://api.example:444", goes: "http://[::1]:1"),
    ])
    func decides(_ row: Row) throws {
        var arguments = ReplayClientArguments()
        for (name, value) in zip(row.arguments, row.arguments.dropFirst() + [""]) {
            switch name {
            case "--to": arguments.moves.append(try ValueSyntax.replayMove.read(value))
            case "--allow": arguments.allowed.append(value)
            case "--unsafe": arguments.allowsAll = true
            default: continue
            }
        }
        let parts = row.request.split(separator: " ").map(String.init)
        let url = try #require(OriginTarget(url: parts[1]))
        let decision = arguments.destinations.decide(
            isSafe: ReplayPlan.isSafe(parts[0]), isSecure: url.isSecure, authority: url.authority)
        let goes: String? =
            switch decision {
            case .send(let target): target.origin
            case .withhold, .unknown: nil
            }
        #expect(goes == row.goes)
    }

    @Test(arguments: [
        "localhost", "ftp://localhost", "http://", "http://localhost/path", "a=b", "http://h:0",
        "http://h:99999", "http://user@h",
    ])
    func refuses(_ text: String) {
        #expect(throws: UsageFailure.self) { try ValueSyntax.replayMove.read(text) }
    }
}
