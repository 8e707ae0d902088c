extension TransformTests {
    /// The checksums of the results for opaque pixels, and for pixels with alpha.
    static let recorded = [
        "6a98583137c57847", "9ccdb10ba6931d9b", "310342dc2baa04b1", "b8fe0438e62f0b70",
        "4ebbe1123a38e64c", "fc780d323836b19c", "1a5fff9d003ed349", "b20de9d813b25928",
        "e4e94aa4fddbf214", "de1fa52ee4c48956", "67d48b2f2eaed138", "f124daf4c912d159",
        "56a9ba98e3f2ab77", "fc915a7627413fe", "fdc6d2d615226f06", "294b1d02906c6f61",
        "87064e8a59065194", "170fa6b0e9c06cfa", "c700b65319f4dadf", "260acf7562c7d9ab",
        "2bbbece2a90c3a95", "9ec6e93e775d6bdd", "cd1ec083ce775cba", "4498b35f95b4f8fe",
        "36f26f7292465ed", "d0c0ba45b6a4162f", "a34ca6b522cc58ca", "3a88ade5be875bee",
        "b8bae05c21216375", "c1453bade4dbca6f", "b9efdcad70db459d", "90babe5ebd5b0d16",
        "76b5e474e1343706", "15eed932f35856c8", "13023b89d0eeafcb", "f08e513f7f7c62b7",
    ]
}
