import Base
import Foundation
import Testing

struct CommandCaseTests {
    @Test(arguments: CommandCase.all())
    func behavesAsWritten(_ row: CommandCase) async throws {
        let result = await row.run.run()
        if ProcessInfo.processInfo.environment["SALLYPORT_ACCEPT_CASES"] != nil {
            try row.accept(result)
            return
        }
        #expect(CommandCase.shown(result.output) == row.output)
        #expect(CommandCase.shown(result.diagnostics) == row.diagnostics)
        #expect(result.code == row.code)
    }

    @Test func thereAreCases() {
        #expect(CommandCase.all().count >= 40)
    }

    /// What the sample capture holds of secrets; no case may show one that does not ask for them.
    @Test(arguments: CommandCase.all())
    func showsNoSecretUnasked(_ row: CommandCase) async {
        let arguments = row.run.arguments
        let asksForBody = arguments.contains { $0.hasSuffix("-body") }
        guard !arguments.contains("--with-secrets") else { return }
        let result = await row.run.run()
        let text = result.output.text + result.diagnostics.text
        for secret in ["t0k3n", "c00kie", "k3y-of", "fr3sh", "bm9yYTpwYTU1", "s3ss10n", "c0de"] {
            #expect(!text.contains(secret))
        }
        #expect(asksForBody || !text.contains("pa55"))
    }
}
