import Foundation
import FoundationNetworking

let (data, _) = try await URLSession.shared.data(from: URL(string: CommandLine.arguments[1])!)
try FileHandle.standardOutput.write(contentsOf: data)
