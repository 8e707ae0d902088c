/// Numbers for the hosts of transfers, so that each name is in memory once.
struct HostTable {
    private(set) var names: [String] = []
    private var numbers: [String: UInt32] = [:]

    /// Returns the number of the host and port of a URL in normal form.
    mutating func number(ofURL url: String) -> UInt32 {
        let rest = url.utf8.drop { $0 != UInt8(ascii: "/") }.drop { $0 == UInt8(ascii: "/") }
        let scheme = url.utf8.prefix { $0 != UInt8(ascii: ":") }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        return number(of: String(Substring(scheme)) + "://" + String(Substring(authority)))
    }

    private mutating func number(of name: String) -> UInt32 {
        if let number = numbers[name] { return number }
        let number = UInt32(names.count)
        names.append(name)
        numbers[name] = number
        return number
    }
}
