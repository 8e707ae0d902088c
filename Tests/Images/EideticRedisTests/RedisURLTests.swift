#if Redis
import EideticCore
import EideticRedis
import Testing

@Suite("Redis URLs")
struct RedisURLTests {
    @Test("L09 forms of addresses")
    func forms() throws {
        #expect(try RedisTier.Configuration(url: "redis://a").servers == [.tcp(host: "a", port: 6_379)])
        #expect(try RedisTier.Configuration(url: "redis://[::1]:7").servers == [.tcp(host: "::1", port: 7)])
        #expect(try RedisTier.Configuration(url: "redis://[::1]").servers == [.tcp(host: "::1", port: 6_379)])
        let cluster = try RedisTier.Configuration(url: "redis://u:p%40%3A@a:1,b:65535/0")
        #expect(cluster.servers == [.tcp(host: "a", port: 1), .tcp(host: "b", port: 65_535)])
        #expect(cluster.user == "u" && cluster.password == "p@:" && cluster.database == 0)
        #expect(try RedisTier.Configuration(url: "redis://:%+5%4@a").password == "%+5%4")
        let marked = try RedisTier.Configuration(url: "redis://u:\u{301}p@a")
        #expect(marked.user == "u" && marked.password == "\u{301}p")
        let socket = try RedisTier.Configuration(url: "unix:///run/redis/socket?db=2")
        #expect(socket.servers == [.unix(path: "/run/redis/socket")])
        #expect(socket.database == 2 && socket.password == nil)
    }

    @Test(
        "L09 faults name the URL and the reason, and not the password",
        arguments: [
            "", "host:6379", "http://a", "redis://", "redis://a:0", "redis://a:65536", "redis://a:b", "redis://a,",
            "redis://a/x", "redis://a/-1", "unix://relative", "unix:///a?db=x", "redis://u:hidden@a:0",
        ]
    )
    func faults(url: String) throws {
        let error = #expect(throws: EideticError.self) { try RedisTier.Configuration(url: url) }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains("hidden") == false)
    }

    @Test("L09 TLS is refused with a reason, and not left out in silence")
    func transportSecurity() throws {
        let error = #expect(throws: EideticError.self) { try RedisTier.Configuration(url: "rediss://u:hidden@a") }
        #expect(error?.code == .tlsFailure)
        #expect(error?.message.contains("hiredis") == true && error?.message.contains("hidden") == false)
    }

    @Test("L09 paths of sockets have at most 107 bytes")
    func pathLimit() throws {
        for (count, isValid) in [(106, true), (107, true), (108, false)] {
            let url = "unix:///" + String(repeating: "a", count: count - 1)
            #expect(((try? RedisTier.Configuration(url: url)) != nil) == isValid)
        }
    }

    @Test("L09 the settings of a tier have the documented defaults") func defaults() throws {
        let configuration = try RedisTier.Configuration(url: "redis://a.test")
        #expect(configuration.user == nil && configuration.password == nil && configuration.database == 0)
        #expect(configuration.namespace == "eidetic" && configuration.valueLimit == .mebibytes(4))
        #expect(configuration.timeout == .milliseconds(250) && configuration.retryInterval == .seconds(10))
        #expect(configuration.leaseDuration == .seconds(5))
    }

    @Test("L09 settings out of their ranges are refused")
    func ranges() throws {
        let changes: [(inout RedisTier.Configuration) -> Void] = [
            { $0.servers = [] }, { $0.timeout = .zero }, { $0.retryInterval = .zero }, { $0.leaseDuration = .zero },
            { $0.valueLimit = .zero }, { $0.valueLimit = ByteCount(512 * 1_048_576 + 1) }, { $0.namespace = "a{b" },
            { $0.database = -1 },
        ]
        for change in changes {
            var configuration = RedisTier.Configuration(servers: [.tcp(host: "a", port: 1)])
            change(&configuration)
            let error = #expect(throws: EideticError.self) { _ = try RedisTier(configuration) }
            #expect(error?.code == .invalidArgument)
        }
    }
}
#endif
