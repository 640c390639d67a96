import Testing

@testable import DNS

@Suite struct NameTableTests {
    @Test func namesKeepTheirAddresses() {
        let table = NameTable()
        #expect(table.address(of: "a.test") == [198, 18, 0, 1])
        #expect(table.address(of: "b.test") == [198, 18, 0, 2])
        #expect(table.address(of: "a.test") == [198, 18, 0, 1])
        #expect(table.name(at: [198, 18, 0, 2]) == "b.test")
        #expect(table.name(at: [198, 18, 0, 3]) == nil)
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 198, 18, 0, 1]
        #expect(table.name(at: mapped) == "a.test")
        #expect(table.count == 2)
    }

    @Test func everyAddressIsOneThatHostsHave() {
        let table = NameTable(nameLimit: .max)
        var addresses: Set<[UInt8]> = []
        for index in 0..<NameTable.addressCount {
            let address = table.address(of: "\(index)")
            guard addresses.insert(address).inserted, NameTable.isOurs(address),
                address[0] == 198, address[1] == 18 || address[1] == 19,
                address[3] != 0, address[3] != 255, [address[1], address[2]] != [19, 255]
            else {
                Issue.record("\(address) is given")
                return
            }
        }
        #expect(addresses.count == 511 * 254)
        #expect(addresses.contains([198, 19, 254, 254]))
        #expect(table.name(at: [198, 19, 254, 254]) == "\(NameTable.addressCount - 1)")
        // All are in use now, so the first name's is taken.
        #expect(table.address(of: "new") == [198, 18, 0, 1])
        #expect(table.count == NameTable.addressCount)
    }

    @Test(
        arguments: [
            [198, 18, 0, 0], [198, 18, 0, 255], [198, 19, 255, 1], [198, 17, 0, 1],
            [198, 20, 0, 1],
            [127, 0, 0, 1], [], [198, 18, 0], [UInt8](repeating: 0, count: 16),
        ] as [[UInt8]])
    func othersAreNotOurs(_ address: [UInt8]) {
        #expect(!NameTable.isOurs(address))
        #expect(NameTable().name(at: address) == nil)
    }

    @Test func theLeastRecentlyUsedLosesItsAddress() {
        let table = NameTable(nameLimit: 3)
        let addresses = ["a", "b", "c"].map { table.address(of: $0) }
        _ = table.address(of: "a")
        #expect(table.name(at: addresses[1]) == "b")
        #expect(table.address(of: "d") == addresses[2])
        #expect(table.name(at: addresses[2]) == "d")
        #expect(table.address(of: "c") == addresses[0])
        #expect(table.address(of: "b") == addresses[1])
        #expect(table.count == 3)
        let single = NameTable(nameLimit: 0)
        for name in ["a", "b", "b", "a"] {
            #expect(table.name(at: single.address(of: name)) != nil)
            #expect(single.name(at: [198, 18, 0, 1]) == name)
        }
    }

    /// The same as a list that is searched.
    @Test func agreesWithAList() {
        var generator = SeededGenerator(state: 7)
        let table = NameTable(nameLimit: 20)
        var list: [(name: String, address: [UInt8])] = []
        for _ in 0..<20_000 {
            let name = "\(Int.random(in: 0..<40, using: &generator))"
            if Bool.random(using: &generator), let known = list.randomElement(using: &generator) {
                #expect(table.name(at: known.address) == known.name)
                list.removeAll { $0.name == known.name }
                list.append(known)
            } else {
                let known = list.first { $0.name == name }
                let address = table.address(of: name)
                #expect(known == nil || known?.address == address)
                if known == nil, list.count == 20 { #expect(list.removeFirst().address == address) }
                list.removeAll { $0.name == name }
                list.append((name, address))
            }
        }
    }

    @Test func manyMayAskAtOnce() async {
        let table = NameTable(nameLimit: 50)
        await withTaskGroup(of: Void.self) { group in
            for start in 0..<4 {
                group.addTask {
                    for index in 0..<2000 {
                        let address = table.address(of: "\((start * 31 + index) % 90)")
                        _ = table.name(at: address)
                    }
                }
            }
        }
        #expect(table.count == 50)
    }
}
