internal import Base
internal import Runs
internal import Terminal

extension AuditStrays {
    func tell(_ console: Console) throws(Failure) {
        if !runs.isEmpty {
            let programs = runs.sorted { $0.key < $1.key }.map { name, count in
                count == 1 ? name : "\(name) (in \(count) runs)"
            }
            try console.note(
                "the command left programs running, which were ended: "
                    + programs.joined(separator: ", "))
        }
        if !left.isEmpty {
            try console.note(
                "the command left programs running, which could not be ended: "
                    + left.joined(separator: ", "))
        }
    }
}
