/// One request of a case, as the server's journal has it.
package struct BatteryRequestRecord: Sendable {
    /// In one line, for people.
    package let text: String
    package let asksForPart: Bool
    package let status: Int
    /// The faults that it met, without the names of their rules.
    package let faults: [String]
    /// Whether its response was broken off on purpose.
    package let isCut: Bool

    package init(
        _ text: String, asksForPart: Bool = false, status: Int = 200, faults: [String] = [],
        isCut: Bool = false
    ) {
        self.text = text
        self.asksForPart = asksForPart
        self.status = status
        self.faults = faults
        self.isCut = isCut
    }
}

extension [BatteryRequestRecord] {
    /// Those behind the response that broke off.
    var behindCut: ArraySlice<BatteryRequestRecord> {
        guard let cut = firstIndex(where: \.isCut) else { return [] }
        return self[(cut + 1)...]
    }

    /// Whether what goes wrong in a case went wrong for these.
    func meet(_ tried: BatteryCase) -> Bool {
        switch tried.sign {
        case .fault(let name):
            name.isEmpty || contains { $0.faults.contains { $0.hasPrefix(name) } }
        case .part:
            behindCut.contains {
                $0.asksForPart && (tried.rules.count < 2 || !$0.faults.isEmpty)
            }
        case .next: !behindCut.isEmpty
        }
    }
}
