internal import Audit
internal import CommandSyntax

extension AuditVerdict {
    var exitCode: ExitCode {
        switch self {
        case .clean: .clean
        case .failed: .findings
        case .inconclusive: .inconclusive
        }
    }
}
