import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.registry.cli.RegistryCli;
import org.apache.hadoop.registry.client.api.RegistryOperations;
import org.apache.hadoop.registry.client.api.RegistryOperationsFactory;
import org.apache.hadoop.registry.client.binding.RegistryUtils;
import org.apache.hadoop.registry.client.types.RegistryPathStatus;
import org.apache.hadoop.registry.client.types.ServiceRecord;
import org.apache.hadoop.registry.server.integration.SelectByYarnPersistence;
import org.apache.hadoop.registry.server.services.RegistryAdminService;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * Hadoop's RegistryOperations, driven line by line: words in base64, separated by blanks; the answer is `ok TEXT` or
 * `error CLASS TEXT`, texts in base64. Arguments of the program: the ZooKeeper servers, `client` or `admin`, and
 * key=value settings of the registry.
 */
public class Peer {
  private static final RegistryUtils.ServiceRecordMarshal MARSHAL = new RegistryUtils.ServiceRecordMarshal();

  private final Configuration conf = new Configuration();
  private final RegistryOperations registry;
  private final ZooKeeper zookeeper;
  private final Dns dns = new Dns();

  private Peer(String[] args) throws Exception {
    conf.set("hadoop.registry.zk.quorum", args[0]);
    for (int i = 2; i < args.length; i++) {
      String[] setting = args[i].split("=", 2);
      conf.set(setting[0], setting[1]);
    }
    if (args[1].equals("admin")) {
      RegistryAdminService admin = new RegistryAdminService("admin");
      admin.init(conf);
      registry = admin;
    } else {
      registry = RegistryOperationsFactory.createInstance(conf);
    }
    registry.start();
    zookeeper = new ZooKeeper(args[0], 30000, event -> { });
  }

  private static String acl(List<ACL> entries) {
    StringBuilder text = new StringBuilder();
    for (ACL entry : entries) {
      text.append(entry.getId().getScheme()).append(':').append(entry.getId().getId());
      text.append(' ').append(entry.getPerms()).append('\n');
    }
    return text.toString();
  }

  private byte[] cli(String[] words) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, "UTF-8");
    int code = new RegistryCli(registry, conf, out, out).run(words);
    out.print(code);
    return bytes.toByteArray();
  }

  private byte[] purge(String path, String id, String persistence, String policy) throws Exception {
    return text(((RegistryAdminService) registry).purge(path, new SelectByYarnPersistence(id, persistence),
        RegistryAdminService.PurgePolicy.valueOf(policy), null));
  }

  private static byte[] text(Object value) {
    return String.valueOf(value).getBytes(StandardCharsets.UTF_8);
  }

  private byte[] status(String path) throws Exception {
    RegistryPathStatus s = registry.stat(path);
    return text(s.path + " " + s.time + " " + s.size + " " + s.children);
  }

  private byte[] records(String path) throws Exception {
    StringBuilder out = new StringBuilder();
    Map<String, ServiceRecord> found = new TreeMap<>(RegistryUtils.listServiceRecords(registry, path));
    for (Map.Entry<String, ServiceRecord> entry : found.entrySet()) {
      out.append(entry.getKey()).append(' ').append(entry.getValue().get("yarn:id", "")).append('\n');
    }
    return text(out);
  }

  private byte[] run(String[] w) throws Exception {
    switch (w[0]) {
    case "bind":
      registry.bind(w[1], MARSHAL.fromBytes(w[1], w[2].getBytes(StandardCharsets.UTF_8)), Integer.parseInt(w[3]));
      return text("");
    case "resolve": return MARSHAL.toBytes(registry.resolve(w[1]));
    case "mknode": return text(registry.mknode(w[1], Boolean.parseBoolean(w[2])));
    case "delete": registry.delete(w[1], Boolean.parseBoolean(w[2])); return text("");
    case "exists": return text(registry.exists(w[1]));
    case "list": return text(String.join("\n", registry.list(w[1])));
    case "stat": return status(w[1]);
    case "records": return records(w[1]);
    case "accessor": return text(registry.addWriteAccessor(w[1], w[2]));
    case "purge": return purge(w[1], w[2], w[3], w[4]);
    case "cli": return cli(Arrays.copyOfRange(w, 1, w.length));
    case "auth": zookeeper.addAuthInfo("digest", w[1].getBytes(StandardCharsets.UTF_8)); return text("");
    case "create": return text(zookeeper.create(w[1], text(w[2]), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.valueOf(w[3])));
    case "own": return text(zookeeper.create(w[1], text(w[2]), ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT));
    case "bytes": return zookeeper.getData(w[1], false, new Stat());
    case "acl": return text(acl(zookeeper.getACL(w[1], new Stat())));
    default: return dns.run(w);
    }
  }

  private static String encode(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private String answer(String line) {
    String[] words = line.split(" ", -1);
    for (int i = 0; i < words.length; i++) {
      words[i] = new String(Base64.getDecoder().decode(words[i]), StandardCharsets.UTF_8);
    }
    try {
      return "ok " + encode(run(words));
    } catch (Exception e) {
      return "error " + e.getClass().getSimpleName() + " " + encode(text(e.getMessage()));
    }
  }

  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err);
    Peer peer = new Peer(args);
    out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(peer.answer(line));
      out.flush();
    }
    peer.registry.stop();
    peer.zookeeper.close();
    System.exit(0); // threads of RegistryDNS go on
  }
}
