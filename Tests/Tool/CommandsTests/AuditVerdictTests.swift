import Audit
import CommandSyntax
import Testing

@testable import Commands

struct AuditVerdictTests {
    @Test(
        arguments: [(AuditVerdict.clean, 0), (.failed, 1), (.inconclusive, 3)]
            as [(AuditVerdict, Int32)])
    func exits(row: (AuditVerdict, Int32)) {
        #expect(row.0.exitCode.rawValue == row.1)
    }
}
