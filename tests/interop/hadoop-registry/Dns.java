import java.nio.charset.StandardCharsets;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.registry.client.binding.RegistryUtils;
import org.apache.hadoop.registry.client.types.ServiceRecord;
import org.apache.hadoop.registry.server.dns.RegistryDNS;
import org.apache.hadoop.registry.server.dns.RegistryDNSServer;

/**
 * Hadoop's RegistryDNS in two forms: `dns-server` is the whole program, which follows ZooKeeper; `dns-names` is only the part
 * that answers, which gets records by `dns-register` and `dns-delete`. Each starts anew with the key=value settings it is given;
 * nothing of them is stopped before the Java process is, since RegistryDNS does not stop.
 */
class Dns {
  private final RegistryUtils.ServiceRecordMarshal marshal = new RegistryUtils.ServiceRecordMarshal();
  private RegistryDNS names;

  /** Settings that begin with dns. are the DNS library's: whom it asks for names outside all zones. */
  private static Configuration configured(String[] words) {
    Configuration conf = new Configuration();
    for (int i = 1; i < words.length; i++) {
      String[] setting = words[i].split("=", 2);
      if (setting[0].startsWith("dns.")) {
        System.setProperty(setting[0], setting[1]);
      } else {
        conf.set(setting[0], setting[1]);
      }
    }
    return conf;
  }

  private ServiceRecord record(String path, String text) throws Exception {
    return marshal.fromBytes(path, text.getBytes(StandardCharsets.UTF_8));
  }

  byte[] run(String[] w) throws Exception {
    switch (w[0]) {
    case "dns-server":
      RegistryDNSServer server = new RegistryDNSServer("server", new RegistryDNS("answers"));
      server.init(configured(w));
      server.start();
      break;
    case "dns-names":
      names = new RegistryDNS("names");
      names.init(configured(w));
      names.start();
      break;
    case "dns-register": names.register(w[1], record(w[1], w[2])); break;
    case "dns-delete": names.delete(w[1], record(w[1], w[2])); break;
    default: throw new IllegalArgumentException(w[0]);
    }
    return new byte[0];
  }
}
