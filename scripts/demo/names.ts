/** Names of one part of the world; lists of words with blanks between them, `_` for a blank inside a name. */
export interface Culture {
  readonly given: readonly string[]
  readonly family: readonly string[]
  /** The order in which people there say the two; the family's name first needs a display name of its own. */
  readonly order: 'given-first' | 'family-first'
}

function culture(given: string, family: string, order: Culture['order'] = 'given-first'): Culture {
  return { given: words(given), family: words(family), order }
}

function words(text: string): string[] {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll('_', ' '))
}

export const CULTURES = {
  german: culture(
    `Jürgen Sabine Käthe Lukas Annika Björn Heike Matthias Jörg Ulrike Felix Hannah Sören Birgit Tobias Grit Leonie
     Günther Maximilian Friederike`,
    `Müller Schröder Weiß Jäger Krüger Köhler Groß Hoffmann Schäfer Böhm Lüders Petersen Vogt Heß Brandt Kühn Meyer-Lübke
     von_Ahlefeld Thießen Wolff Paulsen`,
  ),
  polish: culture(
    `Łukasz Małgorzata Paweł Katarzyna Grażyna Michał Zofia Wojciech Bożena Stanisław Agnieszka Jędrzej Ewa Krzysztof
     Jagoda Mieczysław Róża Tomasz`,
    // Only names that women and men share.
    `Wójcik Kowalczyk Woźniak Wróbel Król Zając Dudek Łuczak Pająk Gołąb Źrebiec Błaszczyk Mazur Żak Krawczyk Kołodziej
     Zięba Ślusarz Dąbek Ćwiek Nowak-Mróz Skóra Bąk`,
  ),
  irish: culture(
    `Seán Aoife Ciarán Niamh Pádraig Róisín Eoin Siobhán Caoimhe Conor Gráinne Declan Sinéad Oisín Brendan Orla`,
    `O'Neill O'Brien Murphy O'Connor Kelly Byrne Ryan O'Sullivan Walsh McCarthy Doyle O'Reilly Gallagher Fitzgerald
     O'Dwyer Kavanagh Brennan O'Mahony`,
  ),
  french: culture(
    `François Hélène Jérôme Cécile Benoît Chloé Aurélien Mégane Raphaël Élodie Loïc Noémie Théo Anaïs Jean-Baptiste
     Zoé Maëlle Gaëtan`,
    `Lefèvre Béranger L'Hénoret Château Müntz Français Désiré de_La_Tour Pâris Gérard Hébert Moreau Faïsal Rousseau
     N'Diaye Garçon D'Aubigné Lemaître`,
  ),
  italian: culture(
    `Giulia Niccolò Alessia Matteo Beatrice Lorenzo Chiara Davide Federica Gianluca Ilaria Nicolò Martina Salvatore
     Simona Tommaso Luigi Noè`,
    `D'Angelo Rossi Dell'Acqua Bianchi D'Amico Esposito De_Luca Colombo Nicolò Lo_Presti Ferrari Sant'Ambrogio Ricci
     Dall'Olio Galli Brambilla Pellè Conti`,
  ),
  turkish: culture(
    `Ayşe Mehmet Çağla İbrahim Elif Oğuz Şeyma Gökhan Büşra Ümit Özlem Yiğit Zeynep Tuğba Kâmil Işıl Hüseyin Nilüfer`,
    `Çelik Yılmaz Öztürk Şahin Yıldız Kılıç Doğan Aydın Özdemir Arslan Güneş Çetin Koç Kurtoğlu Şimşek Ünal Erdoğdu
     Bağcı`,
  ),
  vietnamese: culture(
    `Thị_Hương Văn_Hùng Minh_Anh Quốc_Bảo Thùy_Linh Đức_Thắng Ngọc_Ánh Hoàng_Long Thu_Trang Tuấn_Kiệt Mỹ_Duyên Hữu_Nghĩa
     Bích_Phượng Thanh_Tùng Khánh_Vy Gia_Huy`,
    `Nguyễn Trần Lê Phạm Huỳnh Hoàng Phan Vũ Võ Đặng Bùi Đỗ Hồ Ngô Dương Lý`,
    'family-first',
  ),
  mexican: culture(
    `José María Ángel Guadalupe Sofía Jesús Íñigo Lucía Martín Ximena Raúl Begoña Héctor Inés Nicolás Verónica Óscar
     Itzel`,
    `García_Hernández Núñez_Peña García-Márquez Muñoz_León Ibáñez López_Ávila Gutiérrez Rodríguez_Gómez Pérez_Ríos
     Castañeda Jiménez Martínez_Solís Zúñiga de_la_Cruz Ordóñez Villaseñor Quiñones Ramírez`,
  ),
  portuguese: culture(
    `João Conceição Antônio Inês Gonçalo Mónica Sebastião Luísa Simão Patrícia Tomé Márcia Rúben Beatriz`,
    `da_Conceição Gonçalves Magalhães Araújo Simões Assunção Guimarães dos_Santos Brandão Falcão Sá Leitão Pinhão
     Évora`,
  ),
  nordic: culture(
    `Åsa Björn Märta Søren Ingrid Kåre Solveig Östen Frida Håkan Tuva Gøran Linnéa Jørgen Saga Anneli Väinö Þórunn`,
    `Åkesson Lindström Sjöberg Nyström Ørsted Bergqvist Dahl Hägglund Ström Västergård Kjær Møller Nygård Mäkinen
     Öberg Lönnroth Ek Sørlie`,
  ),
  czech: culture(
    `Jiří Ondřej Zdeněk Štěpán Vojtěch Matěj Luděk Čestmír Tomáš Radovan`,
    `Novák Dvořák Procházka Růžička Kříž Černý Šťastný Beneš Veselý Žižka Hájek Říha`,
  ),
  czechWomen: culture(
    `Tereza Kateřina Alžběta Žaneta Ludmila Zdeňka Markéta Jiřina Růžena Šárka`,
    `Nováková Dvořáková Procházková Růžičková Křížová Černá Šťastná Benešová Veselá Žižková Hájková Říhová`,
  ),
  hungarian: culture(
    `Eszter Zoltán Ágnes György Réka László Zsófia Gergő Tünde Balázs Csilla Márton`,
    `Nagy Szabó Tóth Kovács Horváth Kiss Molnár Németh Őry Gyöngyösi Pintér Szűcs`,
    'family-first',
  ),
  indian: culture(
    `Aarav Priya Rohan Ananya Vikram Deepika Arjun Kavya Sanjay Meera Nikhil Lakshmi Ishaan Pooja`,
    `Sharma Iyer Patel Reddy Banerjee Nair Krishnamurthy Singh Mukherjee Deshpande Chatterjee Rao Kulkarni D'Souza`,
  ),
  nigerian: culture(
    `Ngozi Adébáyọ̀ Chukwuemeka Folásadé Ifeanyi Yetunde Obinna Títílayọ̀ Emeka Amara`,
    `Okonkwo Adéyẹmí Okafor Balógun Nwosu Ògúndélé Eze Adébísí Okoro Afolábí`,
  ),
  arabic: culture(
    `Omar Fatima Khalid Leïla Yusuf Amina Tariq Nour Hassan Salma Bilal Rania`,
    `al-Masri Haddad Ben_Youssef El_Amrani Khoury Mansour bin_Rashid Najjar Saïdi Abd_el-Aziz Belkacem Rahman`,
  ),
  english: culture(
    `Oliver Charlotte Harry Imogen George Poppy Callum Harriet Rhys Bronwen Zoë Alistair Chloë Hamish`,
    `Smith Taylor Brontë Harrison Davies MacDonald Fotheringay-Jones Cooper Llewellyn St._John Ashworth Walker Wright`,
  ),
} as const

export type CultureName = keyof typeof CULTURES
