import OutputCollector
import Testing

@testable import Terminal

struct PaletteTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let terminal: Int?
        let variables: [String: String]
        let isColoured: Bool
        var testDescription: String { name }
    }

    static let isForTerminalsRows: [Row] = [
        Row(name: "terminal", terminal: 80, variables: [:], isColoured: true),
        Row(name: "pipe", terminal: nil, variables: [:], isColoured: false),
        Row(name: "NO_COLOR", terminal: 80, variables: ["NO_COLOR": "0"], isColoured: false),
        Row(name: "empty NO_COLOR", terminal: 80, variables: ["NO_COLOR": ""], isColoured: true),
        Row(name: "dumb", terminal: 80, variables: ["TERM": "dumb"], isColoured: false),
    ]

    @Test(arguments: isForTerminalsRows)
    func isForTerminals(_ row: Row) {
        let palette = Palette(for: Collector().stream(row.terminal), variables: row.variables)
        #expect(palette.isColoured == row.isColoured)
        #expect((palette.paint("x", .red) == "x") == !row.isColoured)
    }
}
