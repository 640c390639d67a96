internal import CommandSyntax
internal import Findings

extension ExitCode {
    init(_ verdict: GateVerdict.Kind) {
        self =
            switch verdict {
            case .clean: .clean
            case .findings, .missed: .findings
            case .inconclusive: .inconclusive
            }
    }
}
